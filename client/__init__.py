"""The reference client: commands for a terminal."""
