"""CRC32C, one byte at a time: polynomial 0x1EDC6F41, bits reflected. No library that the project depends on has it."""


def _table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


#: The state after each byte from the state 0.
TABLE = _table()


def crc32c_of(data: bytes | memoryview) -> int:
    """The CRC32C of `data`."""
    state = 0xFFFFFFFF
    for byte in data:
        state = TABLE[(state ^ byte) & 0xFF] ^ state >> 8
    return state ^ 0xFFFFFFFF
