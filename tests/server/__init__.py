"""Tests of the server's own rooms."""
