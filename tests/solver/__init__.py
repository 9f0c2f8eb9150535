"""Tests of solver."""
