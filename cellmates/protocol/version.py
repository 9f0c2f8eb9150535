"""Which protocol this is."""

PROTO = 1
