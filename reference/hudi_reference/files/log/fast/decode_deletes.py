"""Delete blocks of the commonest form, read without an Avro library: the fast twin of `content.stored_deletes`.

In this form the list is stored as one block of entries; each entry has a key and a partition of less than 64 bytes, and no
ordering value (Integer 0). All other lists are left to the plain code.
"""

#: The branch of an Integer in the union of ordering values, and the number 0.
_NO_ORDERING = b"\x04\x00"


def decode_simple_deletes(data: memoryview) -> list[tuple[str, str]] | None:
    """Key and partition of each entry; None if the list is not of the simple form, or is damaged."""
    found, stored = [], bytes(data)
    try:
        count, place = _number(stored, 0)
        for _ in range(count):
            key, place = _short_text(stored, place)
            partition, place = _short_text(stored, place)
            if stored[place : place + 2] != _NO_ORDERING:
                return None
            place += 2
            found.append((key, partition))
    except (ValueError, IndexError):  # UnicodeDecodeError too
        return None
    return found if found and stored[place:] == b"\0" else None


def _number(stored: bytes, place: int) -> tuple[int, int]:
    """A number at a place, stored as an Avro long, and the place after it. Raises IndexError and ValueError."""
    raw, shift = 0, 0
    while stored[place] >= 0x80:
        raw |= (stored[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
    raw |= stored[place] << shift
    if raw & 1 or (shift and not stored[place]):
        raise ValueError("a negative number, or one that is not in its shortest form")
    return raw >> 1, place + 1


def _short_text(stored: bytes, place: int) -> tuple[str, int]:
    """A text in a union with null, and the place after it. Raises IndexError and ValueError for another form."""
    branch, size = stored[place], stored[place + 1]
    end = place + 2 + (size >> 1)
    if branch != 2 or size & 0x81 or end > len(stored):
        raise ValueError("a null, a long text, or one that is cut")
    return stored[place + 2 : end].decode(), end
