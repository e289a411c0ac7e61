"""Numbers of variable length in HFiles, and the location of an HFile for its errors."""

from collections.abc import Iterator
from dataclasses import dataclass

from hudi_reference.errors import MalformedBaseFile, UnsupportedFileFormat

Data = bytes | memoryview
#: How a field of a protobuf message is stored.
VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5


@dataclass(frozen=True)
class Place:
    """The file, and the offset in it at which the HFile begins; not 0 if the HFile is the content of a log block."""

    path: str
    start: int = 0

    def malformed(self, message: str, at: int, found: str, expected: str | None = None) -> MalformedBaseFile:
        """The error for malformed bytes at an offset of the HFile."""
        return MalformedBaseFile(
            message, rule="BF-002", path=self.path, offset=self.start + at, expected=expected, found=found,
            remedy="restore the file from another copy of the table",
        )  # fmt: skip

    def unsupported(self, message: str, at: int, found: str, expected: str) -> UnsupportedFileFormat:
        """The error for an HFile that is valid, but of a kind that Apache Hudi does not write."""
        return UnsupportedFileFormat(
            message, rule="BF-002", path=self.path, offset=self.start + at, expected=expected, found=found,
            remedy="rewrite the file with Apache Hudi and its defaults: compression GZ or NONE, no encryption, no encoding",
        )  # fmt: skip


def protobuf_varint(number: int) -> bytes:
    """A number with seven bits a byte, low bits first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def read_protobuf_varint(data: Data, position: int) -> tuple[int, int]:
    """The number at `position`, of 64 bits at most, and the position after it. Raises ValueError."""
    number = 0
    for i, byte in enumerate(data[position : position + 10]):
        number |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            if number >> 64:
                break
            return number, position + i + 1
    raise ValueError("a number that does not end, or has more than 64 bits")


def protobuf_fields(message: Data) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field of a message. Raises ValueError."""
    position = 0
    while position < len(message):
        key, position = read_protobuf_varint(message, position)
        width = {EIGHT_BYTES: 8, FOUR_BYTES: 4}.get(key & 7)
        if key & 7 == VARINT:
            value, position = read_protobuf_varint(message, position)
            yield key >> 3, value
            continue
        if key & 7 == BYTES:
            width, position = read_protobuf_varint(message, position)
        if width is None or width > len(message) - position:
            raise ValueError(f"field {key >> 3} of wire type {key & 7} extends beyond its message, or has an unknown type")
        yield key >> 3, bytes(message[position : position + width])
        position += width


def hadoop_varint(number: int) -> bytes:
    """A number that is not negative: one byte up to 127, else the number of bytes, then the big-endian bytes."""
    if number <= 127:
        return bytes([number])
    width = (number.bit_length() + 7) // 8
    return bytes([256 - 112 - width]) + number.to_bytes(width, "big")


def read_hadoop_varint(data: Data, position: int) -> tuple[int, int]:
    """The number at `position` and the position after it. Raises ValueError for negative numbers."""
    first = data[position] if position < len(data) else 0xFF
    if first <= 127:
        return first, position + 1
    width = 256 - 112 - first
    if not 1 <= width <= 8 or position + 1 + width > len(data):
        raise ValueError(f"no length begins with the byte {first:02x} here")
    return int.from_bytes(data[position + 1 : position + 1 + width], "big"), position + 1 + width
