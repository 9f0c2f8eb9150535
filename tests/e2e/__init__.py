"""Whole games over real sockets, against servers that are really killed."""
