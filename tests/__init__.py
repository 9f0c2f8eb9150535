"""Tests mirror the rooms of the project."""
