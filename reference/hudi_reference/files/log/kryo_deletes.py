"""Delete blocks of tables before version 6: a Java array, serialized by Kryo 4.

Content version 1 is a `HoodieKey[]`, version 2 a `DeleteRecord[]`, both written by `writeClassAndObject`:

    class        number; 0 null, 1 a name follows: its number, and the text where the number is new; else a built-in type + 2
    object       number; 0 null, 1 new: its fields follow; else the object that was read as number - 2
    array        number of elements + 1, then each with its class
    HoodieKey    objects partitionPath and recordKey, which are texts (fields come in order of their names)
    DeleteRecord HoodieKey with its class, then the ordering value with its class

Numbers are varints, low bits first; signed numbers are zigzag-encoded. Only these classes are read; no other class is ever
loaded.
"""

import decimal
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hudi_reference.requirement import implements

_MODEL = "org.apache.hudi.common.model."
#: Numbers of built-in types; releases 0.12 and 1.0 register Avro's text class as 10 and 42.
_TEXT, _INT, _FLOAT, _BOOLEAN, _SHORT, _LONG, _DOUBLE, _UTF8 = 1, 0, 2, 3, 6, 7, 8, (10, 42)


class UnknownClass(Exception):
    """The data contains an object of a class that is not supported."""


@dataclass(frozen=True)
class StoredDelete:
    """One entry; `wrapper` is the name of the wrapper that an Avro delete block would use, None without an ordering value."""

    key: str
    partition: str | None
    wrapper: str | None = None
    value: Any = None


@implements("BLK-010")
def read_deletes(data: bytes, *, with_ordering: bool) -> list[StoredDelete]:
    """The entries of a `DeleteRecord[]`, or of a `HoodieKey[]` if not `with_ordering`.

    Raises ValueError for bytes that are not such an array, UnknownClass for an ordering value of another class. The memory
    needed is proportional to the size of the data.
    """
    source = _Input(data)
    element = "DeleteRecord" if with_ordering else "HoodieKey"
    source.expect_class(f"[L{_MODEL}{element};")
    source.new_object()
    count = source.number() - 1
    if not 0 <= count <= source.left:
        raise ValueError(f"an array of {count} entries in {source.left} bytes")
    read = _record if with_ordering else _key
    found = [read(source) for _ in range(count)]
    if source.left:
        raise ValueError(f"{source.left} bytes after the last entry")
    return found


def _key(source: "_Input") -> StoredDelete:
    source.expect_class(_MODEL + "HoodieKey")

    def fields() -> StoredDelete:
        partition, key = source.text(), source.text()
        if key is None:
            raise ValueError("a record key that is null")
        return StoredDelete(key, partition)

    return source.object(fields, StoredDelete)  # type: ignore[no-any-return]


def _record(source: "_Input") -> StoredDelete:
    source.expect_class(_MODEL + "DeleteRecord")

    def fields() -> StoredDelete:
        key = _key(source)
        wrapper, value = _ordering(source)
        return StoredDelete(key.key, key.partition, wrapper, value)

    return source.object(fields, StoredDelete)  # type: ignore[no-any-return]


def _ordering(source: "_Input") -> tuple[str | None, Any]:
    """The name of the wrapper of an ordering value, and the value."""
    kind = source.class_of_next()
    if kind is None:
        return None, None
    if kind not in _ORDERINGS:
        raise UnknownClass(f"an ordering value of the class {kind}")
    wrapper, read = _ORDERINGS[kind]
    return wrapper, read(source)


@dataclass
class _Input:
    """Bytes that are read from the front, with the classes and objects read so far."""

    data: bytes
    position: int = 0
    names: list[str] = field(default_factory=list)
    objects: list[Any] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Bytes that were not read yet."""
        return len(self.data) - self.position

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if not 0 <= count <= self.left:
            raise ValueError(f"{count} bytes at byte {self.position}, {self.left} are left")
        self.position += count
        return self.data[self.position - count : self.position]

    def number(self, longest: int = 5) -> int:
        """A varint of up to 5 bytes, or of up to 9 of which the last is a whole byte."""
        result = 0
        for place in range(longest):
            (byte,) = self.take(1)
            if place == 8:
                return result | byte << 56
            result |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                break
        else:
            raise ValueError("a number without an end")
        return result

    def signed(self, longest: int = 5) -> int:
        """A zigzag number."""
        raw = self.number(longest)
        value = raw >> 1 ^ -(raw & 1)
        if longest == 5 and not -(2**31) <= value < 2**31:
            raise ValueError(f"{value} is not a 32-bit number")
        return value

    def class_of_next(self) -> str | int | None:
        """The class of the next object: its name, the number of a built-in type, or None for null."""
        marker = self.number()
        if marker != 1:
            return marker - 2 if marker else None
        number = self.number()
        if number == len(self.names):
            self.names.append(self.plain_text() or "")
        if number >= len(self.names):
            raise ValueError(f"class {number} of {len(self.names)}")
        return self.names[number]

    def expect_class(self, name: str) -> None:
        """Read the class of the next object, which has to be this one."""
        found = self.class_of_next()
        if found != name:
            raise ValueError(f"an object of the class {found}, expected {name}")

    def new_object(self) -> int:
        """Read the marker of a new object; its index among the objects."""
        marker = self.number()
        if marker != 1:
            raise ValueError(f"object marker {marker} in place of a new object")
        self.objects.append(None)
        return len(self.objects) - 1

    def object(self, fields: Callable[[], Any], kind: type) -> Any:
        """The next object: a new one, whose fields `fields` reads, or one that was read before."""
        marker = self.number()
        if marker > 1:
            if marker - 2 >= len(self.objects) or not isinstance(self.objects[marker - 2], kind):
                raise ValueError(f"object {marker - 2} of {len(self.objects)} is not a {kind.__name__}")
            return self.objects[marker - 2]
        if marker == 0:
            raise ValueError(f"null in place of a {kind.__name__}")
        self.objects.append(None)
        place = len(self.objects) - 1
        self.objects[place] = fields()
        return self.objects[place]

    def text(self) -> str | None:
        """A text, which may be null or one that was read before."""
        if self.left and self.data[self.position] == 0:
            self.position += 1
            return None
        text: str = self.object(lambda: self.plain_text() or "", str)
        return text

    def plain_text(self) -> str | None:
        """Characters of ASCII with the top bit of the last one set, or a count + 1 and UTF-16 units in one to three bytes."""
        (first,) = self.take(1)
        if not first & 0x80:
            return self._ascii(first)
        count = first & 0x3F
        if first & 0x40:
            count |= self.number() << 6
        return None if count == 0 else self._units(count - 1)

    def _ascii(self, first: int) -> str:
        text = bytearray([first])
        while not text[-1] & 0x80:
            text += self.take(1)
        text[-1] &= 0x7F
        return text.decode("ascii")

    def _units(self, count: int) -> str:
        if count > self.left:
            raise ValueError(f"a text of {count} characters in {self.left} bytes")
        units = bytearray()
        for _ in range(count):
            units += struct.pack(">H", self._unit())
        return units.decode("utf-16-be")

    def _unit(self) -> int:
        (first,) = self.take(1)
        if first < 0x80:
            return first
        if first >> 5 == 0b110:
            return (first & 0x1F) << 6 | self._continuation()
        if first >> 4 == 0b1110:
            return (first & 0x0F) << 12 | self._continuation() << 6 | self._continuation()
        raise ValueError(f"{first:#04x} is not the first byte of a character")

    def _continuation(self) -> int:
        (byte,) = self.take(1)
        if byte >> 6 != 0b10:
            raise ValueError(f"{byte:#04x} is not a later byte of a character")
        return byte & 0x3F


def _bytes(source: _Input) -> bytes:
    return source.take(source.number() - 1)


def _utf8(source: _Input) -> str:
    return source.object(lambda: _bytes(source).decode(), str)  # type: ignore[no-any-return]


def _decimal(source: _Input) -> decimal.Decimal:
    def fields() -> decimal.Decimal:
        unscaled, scale = int.from_bytes(_bytes(source), "big", signed=True), source.signed()
        digits = tuple(int(digit) for digit in str(abs(unscaled)))
        return decimal.Decimal((unscaled < 0, digits, -scale))

    return source.object(fields, decimal.Decimal)  # type: ignore[no-any-return]


def _timestamp(source: _Input) -> int:
    """Microseconds; milliseconds are stored."""
    return source.object(lambda: source.number(9), int) * 1000  # type: ignore[no-any-return]


_ORDERINGS: dict[str | int, tuple[str, Callable[[_Input], Any]]] = {
    _TEXT: ("StringWrapper", lambda source: source.text()),
    _INT: ("IntWrapper", lambda source: source.signed()),
    _SHORT: ("IntWrapper", lambda source: struct.unpack(">h", source.take(2))[0]),
    _LONG: ("LongWrapper", lambda source: source.signed(9)),
    _FLOAT: ("FloatWrapper", lambda source: struct.unpack(">f", source.take(4))[0]),
    _DOUBLE: ("DoubleWrapper", lambda source: struct.unpack(">d", source.take(8))[0]),
    _BOOLEAN: ("BooleanWrapper", lambda source: source.take(1) == b"\1"),
    **dict.fromkeys(_UTF8, ("StringWrapper", _utf8)),
    "java.math.BigDecimal": ("DecimalWrapper", _decimal),
    "java.sql.Timestamp": ("TimestampMicrosWrapper", _timestamp),
}
