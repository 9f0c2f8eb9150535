"""The authority: every game is decided, recorded and answered here."""
