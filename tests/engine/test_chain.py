from hashlib import sha256

from cellmates.engine import first_hash, next_hash


def test_hashes_are_those_of_the_protocol_page() -> None:
    first = first_hash("freecell", 1, "617", "safe")
    assert first == sha256(b"cellmates/1\nfreecell\n1\n617\nsafe").hexdigest()
    second = next_hash(first, 1, "26v3", 1500)
    assert second == sha256(first.encode() + b"\n1 26v3 1500").hexdigest()


def test_every_part_changes_the_hash() -> None:
    parts = [
        first_hash("freecell", 1, "617", "safe"),
        first_hash("eight-off", 1, "617", "safe"),
        first_hash("freecell", 2, "617", "safe"),
        first_hash("freecell", 1, "618", "safe"),
        first_hash("freecell", 1, "617", "off"),
        next_hash("0" * 64, 1, "3a", 0),
        next_hash("1" * 64, 1, "3a", 0),
        next_hash("0" * 64, 2, "3a", 0),
        next_hash("0" * 64, 1, "3b", 0),
        next_hash("0" * 64, 1, "3a", 1),
    ]
    assert len(set(parts)) == len(parts)
