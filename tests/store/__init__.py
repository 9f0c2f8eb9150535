"""The journal, on both databases."""
