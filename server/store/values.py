"""What both databases can keep. Asked before one of them sees a value, so that both say the same.

Left to them, SQLite keeps a NUL that Postgres refuses, and a number that needs more than 64 bits is
an ``OverflowError`` in one driver and an error of the database in the other.
"""

SMALLEST, LARGEST = -(2**63), 2**63 - 1


def check_values(*values: str | int | None) -> None:
    """Let values through that can be kept, and come back as they went in.

    Raises:
        ValueError: one is an integer beyond 64 bits, or text with NUL or half a surrogate pair.
            The message does not repeat it.
    """
    for value in values:
        if isinstance(value, str):
            if "\0" in value or not value.isascii():
                _check_text(value)
        elif value is not None and not SMALLEST <= value <= LARGEST:
            raise ValueError("integer beyond 64 bits")


def _check_text(text: str) -> None:
    if "\0" in text:
        raise ValueError("NUL in text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair in text") from None
