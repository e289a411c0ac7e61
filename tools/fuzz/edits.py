"""Random mutations: of bytes, of numbers in them, of JSON values."""

import json
import struct
from collections.abc import Callable
from random import Random
from typing import Any

from tools.corpus.avro_bytes import encode_long
from tools.fuzz.structure_aware.parts import Explode, json_text

#: Numbers that often make decoders fail.
NUMBERS = (
    0, 1, -1, 2, 3, 7, 8, 127, 128, 255, 2**15, 2**16, 2**24, 2**31 - 1, 2**31, -(2**31), 2**32, 2**40, 2**63 - 1, -(2**63),
)  # fmt: skip
#: Values with a meaning in schemas and metadata.
VALUES: tuple[Any, ...] = (
    None, True, "", "null", "string", "bytes", "long", "int", "double", "boolean", "r", "\ud800", "/", "..", 1.5, [], {}, [[]],
    ["null", "long"], {"type": "array", "items": "null"}, {"type": "map", "values": "string"},
    {"type": "fixed", "name": "f", "size": 0}, {"type": "enum", "name": "e", "symbols": ["A", "B"]},
    {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2},
    {"type": "long", "logicalType": "timestamp-micros"}, {"type": "record", "name": "r", "fields": []}, *NUMBERS,
)  # fmt: skip

Change = Callable[[bytes], bytes]


def mutate(data: bytes, explode: Explode, random: Random, change: Change | None = None) -> bytes:
    """The input with one to three changes, half of them in leaves; `change` mutates the bytes in all other cases."""
    for _ in range(random.randint(1, 3)):
        parts = explode(data) if random.random() < 0.7 else None
        if parts is None or not parts.leaves:
            data = _leaf(data, random, change)
            continue
        leaves = list(parts.leaves)
        at = random.randrange(len(leaves))
        leaves[at] = random.choice(leaves) if random.random() < 0.05 else _leaf(leaves[at], random, change)
        data = parts.build(leaves)
    return data


def _leaf(data: bytes, random: Random, change: Change | None) -> bytes:
    value = json_text(data) if random.random() < 0.5 else None
    if value is not None:
        return json.dumps(_json(value, random)).encode()
    if change is not None and random.random() < 0.5:
        return change(data)
    return random.choice(_BYTES)(data, random)


def _json(value: Any, random: Random) -> Any:
    """The value with one of its parts replaced, removed or repeated."""
    places = list(_places(value))
    if not places or random.random() < 0.02:
        return random.choice(VALUES)
    holder, key = random.choice(places)
    match random.randrange(4):
        case 0:
            del holder[key]
        case 1:
            other, place = random.choice(places)
            holder[key] = json.loads(json.dumps(other[place]))
        case 2 if isinstance(holder, list):
            holder.insert(key, holder[key])
        case _:
            holder[key] = random.choice(VALUES)
    return value


def _places(value: Any) -> Any:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in entries:
        yield value, key
        yield from _places(part)


def _flip(data: bytes, random: Random) -> bytes:
    if not data:
        return b"\0"
    changed = bytearray(data)
    changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _overwrite(data: bytes, random: Random) -> bytes:
    """Overwrite bytes with a number of one, two, four or eight bytes in either byte order, or with an Avro long."""
    at, number = random.randint(0, len(data)), random.choice(NUMBERS) + random.choice((0, 0, 1, -1))
    width = random.choice("bhiq")
    size = struct.calcsize(width)
    wrapped = (number + (1 << 8 * size - 1)) % (1 << 8 * size) - (1 << 8 * size - 1)
    new = random.choice((struct.pack(">" + width, wrapped), struct.pack("<" + width, wrapped), encode_long(number)))
    return data[:at] + new + data[at + len(new) :]


def _insert(data: bytes, random: Random) -> bytes:
    at = random.randint(0, len(data))
    new = random.choice((random.randbytes(random.randint(1, 8)), data[at : at + random.randint(1, 64)], bytes(4), b"#HUDI#"))
    return data[:at] + new + data[at:]


def _remove(data: bytes, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + data[at + random.choice((1, 2, 4, 8, random.randint(1, 64))) :]


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randint(0, len(data))]


def _copy(data: bytes, random: Random) -> bytes:
    if not data:
        return data
    start, at = random.randrange(len(data)), random.randrange(len(data))
    piece = data[start : start + random.randint(1, 32)]
    return data[:at] + piece + data[at + len(piece) :]


def _repeat(data: bytes, random: Random) -> bytes:
    start = random.randint(0, len(data))
    piece = data[start : start + random.randint(1, 128)]
    return data[:start] + piece * random.randint(2, 20) + data[start:]


_BYTES = (_flip, _flip, _overwrite, _overwrite, _insert, _remove, _cut, _copy, _repeat)
