"""Checking the bytes of an Avro datum against its schema without decoding it.

The Avro library accepts malformed bytes: it reads branch -1 as the last one, and numbers of any length. This module checks
numbers, lengths, branches, symbols and counts. The library itself checks that texts are UTF-8. It also counts values before
they are decoded: a byte may become a record with many fields.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hudi_reference.limits import Limit
from hudi_reference.requirement import implements

Data = memoryview | bytes
#: Checks a value: from the offset of its beginning to the offset of its end. Raises ValueError and IndexError.
Walk = Callable[[Data, int], int]


@implements("BLK-022")
def check_of(schema: Any) -> Callable[[Data], None]:
    """The check that bytes are a datum under a schema in the form of the Avro library; it raises ValueError and IndexError."""
    walk = _walk_of(schema, _Known())

    def check(data: Data) -> None:
        if (end := walk(data, 0)) != len(data):
            raise ValueError(f"a record of {len(data)} bytes ends after {end}")

    return check


class ValueCounts:
    """How many values a datum of a schema may have. Make it once for a schema and use it for every datum."""

    def __init__(self, schema: Any) -> None:
        #: The schema in the form of the Avro library.
        self.schema = schema
        self._items, self._weights = list[_Weight](), dict[str, _Weight]()
        self._whole = _weigh(schema, self._weights, self._items)

    def check(self, data: Data, limit: Limit, path: str) -> None:
        """Check that a datum has at most `limit` values; it is walked through only if its length permits more.

        No byte belongs to two elements, so the type with the most values for each byte bounds the values of all elements.

        Raises LimitExceeded, ValueError, IndexError.
        """
        densest = max((-(-len(data) * item.values // item.least) for item in self._items if item.least), default=0)
        of_no_bytes = sum(len(data) * item.values for item in self._items if not item.least)
        if self._whole.values + densest + of_no_bytes > limit.value:
            _walk_of(self.schema, _Known(self._weights, limit, path))(data, 0)


@dataclass(frozen=True)
class _Weight:
    """The most values of one value of a type, without the elements of its arrays and maps, and its least number of bytes."""

    values: int
    least: int


def _weigh(avro: Any, known: dict[str, _Weight], items: list[_Weight]) -> _Weight:
    """The weight of a type. Those of the elements of all arrays and maps in it are added to `items`."""
    match avro:
        case str():
            return known.get(avro, _Weight(1, int(avro != "null")))
        case list():
            branches = [_weigh(branch, known, items) for branch in avro]
            return _Weight(max(branch.values for branch in branches), 1 + min(branch.least for branch in branches))
        case {"fields": fields}:
            parts = [_weigh(field["type"], known, items) for field in fields]
            found = _Weight(1 + sum(part.values for part in parts), sum(part.least for part in parts))
        case {"items": inner} | {"values": inner}:
            items.append(_weigh(inner, known, items))
            found = _Weight(1, 1)
        case {"type": "fixed", "size": size}:
            found = _Weight(1, size)
        case {"type": str(inner)} if inner not in known:
            found = _Weight(1, int(inner != "null"))
        case _:
            found = _weigh(avro["type"], known, items)
    if "name" in avro:
        known[avro["name"]] = found
    return found


class _Known(dict[str, Walk]):
    """The walks of named types, and what counts values: their weights, the values so far, and the limit, if there is one."""

    def __init__(self, weights: dict[str, _Weight] | None = None, limit: Limit | None = None, path: str = "") -> None:
        super().__init__()
        self._weights = weights or {}
        self._values, self._limit, self._path = 0, limit, path

    def counter_of(self, item: Any) -> Callable[[int], None]:
        """Counts the values of a number of elements of this type. Raises LimitExceeded."""
        limit = self._limit
        if limit is None:
            return lambda elements: None
        values, most = _weigh(item, self._weights, []).values, limit.value

        def count(elements: int) -> None:
            self._values += elements * values
            if self._values > most:
                limit.check(self._values, self._path)

        return count


def _walk_of(avro: Any, known: _Known) -> Walk:
    if isinstance(avro, list):
        return _choice([_walk_of(branch, known) for branch in avro], "branch")
    if isinstance(avro, str):
        return _PRIMITIVES[avro] if avro in _PRIMITIVES else known[avro]
    walk = _COMPLEX[avro["type"]](avro, known) if avro["type"] in _COMPLEX else _walk_of(avro["type"], known)
    if "name" in avro:
        known[avro["name"]] = walk
    return walk


def read_long(data: Data, place: int, longest: int = 10) -> tuple[int, int]:
    """A zigzag number of at most `longest` bytes, and the offset after it."""
    raw = shift = 0
    for _ in range(longest):
        byte = data[place]
        place += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            if raw >> 64:
                break
            return raw >> 1 ^ -(raw & 1), place
        shift += 7
    raise ValueError(f"a number without an end before byte {place}")


def _long(data: Data, place: int) -> int:
    return read_long(data, place)[1]


def _int(data: Data, place: int) -> int:
    return read_long(data, place, 5)[1]


def _bytes(data: Data, place: int) -> int:
    length, place = read_long(data, place)
    if not 0 <= length <= len(data) - place:
        raise ValueError(f"{length} bytes at byte {place}, {len(data) - place} are left")
    return place + length


def _width(size: int) -> Walk:
    return lambda data, place: place + size


def _boolean(data: Data, place: int) -> int:
    if data[place] > 1:
        raise ValueError(f"a boolean of {data[place]} at byte {place}")
    return place + 1


def _choice(walks: list[Walk], what: str) -> Walk:
    def walk(data: Data, place: int) -> int:
        index, place = read_long(data, place, 5)
        if not 0 <= index < len(walks):
            raise ValueError(f"{what} {index} of {len(walks)}")
        return walks[index](data, place)

    return walk


def _record(avro: Mapping[str, Any], known: _Known) -> Walk:
    walks: list[Walk] = [_walk_of(field["type"], known) for field in avro["fields"]]

    def walk(data: Data, place: int) -> int:
        for field in walks:
            place = field(data, place)
        return place

    return walk


def _blocks(item: Walk, count_values: Callable[[int], None]) -> Walk:
    """Items in blocks: each block is the number of its items, negative if the size of the block follows; the last block is
    empty.
    """

    def walk(data: Data, place: int) -> int:
        while True:
            count, place = read_long(data, place)
            if count == 0:
                return place
            size, place = read_long(data, place) if count < 0 else (None, place)
            end = None if size is None else place + size
            if abs(count) > len(data) - place:
                raise ValueError(f"{abs(count)} items at byte {place}, {len(data) - place} bytes are left")
            count_values(abs(count))
            for _ in range(abs(count)):
                place = item(data, place)
            if end is not None and place != end:
                raise ValueError(f"a block of items ends at byte {place}, not at byte {end}")

    return walk


def _map(avro: Mapping[str, Any], known: _Known) -> Walk:
    value = _walk_of(avro["values"], known)
    return _blocks(lambda data, place: value(data, _bytes(data, place)), known.counter_of(avro["values"]))


_PRIMITIVES: dict[str, Walk] = {
    "null": _width(0), "boolean": _boolean, "float": _width(4), "double": _width(8),
    "int": _int, "long": _long, "bytes": _bytes, "string": _bytes,
}  # fmt: skip
_COMPLEX: dict[str, Callable[[Mapping[str, Any], _Known], Walk]] = {
    "record": _record,
    "error": _record,
    "array": lambda avro, known: _blocks(_walk_of(avro["items"], known), known.counter_of(avro["items"])),
    "map": _map,
    "fixed": lambda avro, known: _width(avro["size"]),
    "enum": lambda avro, known: _choice([_width(0)] * len(avro["symbols"]), "symbol"),
}
