"""Shared ground of Cellmates: rules, solver and wire format, free of I/O, clock and chance."""

__version__ = "0.1.0"
