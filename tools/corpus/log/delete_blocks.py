"""Valid log files: delete blocks, every branch of the ordering value, every form of the content."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from tools.corpus.avro_bytes import encode_bytes, encode_double, encode_float, encode_long, encode_string
from tools.corpus.case import FileCase
from tools.corpus.log.blocks import (
    NATURAL,
    NO_ORDERING,
    Entry,
    avro_block,
    delete_block,
    delete_entry,
    delete_list,
    make_row,
    raw_delete_block,
)
from tools.corpus.log.builder import INSTANT, Json, expected_inspection
from tools.corpus.log.file_cases import CONTENT, whole_file_case
from tools.corpus.names import instant_time

#: Releases with one ordering field do not support the union branch of several values.
SEVERAL = (*CONTENT, "merge.multiple-ordering-fields")
RULES = ("BLK-006", "BLK-007", "BLK-008", "BLK-009", "BLK-010")
ERRATA = ("ER-013", "ER-016", "ER-017")
HEADER = [(INSTANT, instant_time(1))]
#: Delete contents of the versions before 3, serialized by Apache Hudi's own classes, and their meaning.
KRYO = Path(__file__).resolve().parents[3] / "reference" / "tests" / "data" / "kryo"

#: The branches of the union by their number: type in the contract's words.
BRANCHES = (
    "null", "boolean", "int", "long", "float", "double", "bytes", "string", "date", "decimal", "time-micros",
    "timestamp-micros", "array",
)  # fmt: skip
#: The branch that the union of array items has in place of the array: a date of another Java class.
LOCAL_DATE = 12


def union_value(kind: str, value: bytes, shows: Json) -> Entry:
    """An ordering value: the number of its branch, and the value of the wrapper's one field."""
    return encode_long(BRANCHES.index(kind)) + value, {"type": kind, "value": shows}


def decimal_value(unscaled: int, shows: str) -> Entry:
    """A decimal of scale 15: the unscaled number in its shortest form."""
    width = (unscaled + (unscaled < 0)).bit_length() // 8 + 1
    return union_value("decimal", encode_bytes(unscaled.to_bytes(width, "big", signed=True)), shows)


#: Ordering values of each branch.
VALUES: dict[str, Sequence[Entry]] = {
    "boolean": [union_value("boolean", b"\x01", True), union_value("boolean", b"\x00", False)],
    "int": [union_value("int", encode_long(n), n) for n in (5, -1, 2**31 - 1, -(2**31))],
    "long": [union_value("long", encode_long(n), str(n)) for n in (5, 0, 1_700_000_000_000, 2**63 - 1, -(2**63))],
    "float": [union_value("float", encode_float(n), shown) for n, shown in ((1.5, "1.5"), (-0.0, "-0.0"), (0.1, "0.1"))],
    "double": [
        union_value("double", encode_double(n), shown)
        for n, shown in ((1.5, "1.5"), (float("-inf"), "-Infinity"), (0.1, "0.1"))
    ],
    "bytes": [union_value("bytes", encode_bytes(b"\x01"), "01"), union_value("bytes", encode_bytes(b""), "")],
    "string": [union_value("string", encode_string(value), value) for value in ("ab", "", "é", "10")],
    "date": [union_value("date", encode_long(n), shown) for n, shown in ((20089, "2025-01-01"), (-1, "1969-12-31"))],
    "decimal": [
        decimal_value(1_500_000_000_000_000, "1.500000000000000"),
        decimal_value(-1_500_000_000_000_000, "-1.500000000000000"),
        decimal_value(0, "0.000000000000000"),
        decimal_value(10**29, "100000000000000.000000000000000"),
    ],
    "time-micros": [union_value("time-micros", encode_long(36_000_500_000), "10:00:00.5")],
    "timestamp-micros": [union_value("timestamp-micros", encode_long(1_735_689_600_000_000), "2025-01-01T00:00:00Z")],
}


def values_of_fields(*parts: Entry) -> Entry:
    """Ordering values of several fields."""
    items = (encode_long(len(parts)) + b"".join(part for part, _ in parts) if parts else b"") + b"\x00"
    return union_value("array", encode_long(1) + items, [shows for _, shows in parts])


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    yield from branches()
    yield from several_fields()
    yield from forms()
    yield from keys()
    yield from kryo()


def delete_block_case(name: str, *entries: Entry, **more: Any) -> FileCase:
    """A file with one delete block and a data block after it."""
    more = {"rules": RULES, "errata": ERRATA, "flags": ("silent-stale", "lost-write")} | more
    return whole_file_case(f"delete.{name}", delete_block(1, *entries), avro_block(2, make_row("z", 1, 2)), **more)


def branches() -> Iterator[FileCase]:
    """Ordering values of one field."""
    for kind, values in VALUES.items():
        yield delete_block_case(
            f"ordering-{kind}",
            *(delete_entry(f"k{n}", value) for n, value in enumerate(values)),
            says=f"An ordering value of type {kind} is stored as the number of its branch and the value.",
            if_it_fails=f"Branch {BRANCHES.index(kind)} of the union is a record with one field, which takes no more bytes.",
        )
    yield delete_block_case(
        "ordering-none",
        delete_entry("natural", NATURAL),
        delete_entry("long-zero", union_value("long", encode_long(0), "0")),
        delete_entry("null", NO_ORDERING),
        rules=(*RULES, "BLK-012"),
        errata=(*ERRATA, "ER-050"),
        says="Integer 0 (no ordering value), long 0 (an ordering value) and null are three different things.",
        if_it_fails=(
            "Keep the type of an ordering value with the value: only Integer 0 means that there is no ordering value."
        ),
    )
    mixed = [values[0] for values in VALUES.values()]
    yield delete_block_case(
        "ordering-mixed",
        *(delete_entry(f"k{n}", value) for n, value in enumerate([NATURAL, *mixed, NO_ORDERING])),
        says=(
            "The ordering values of one delete block may have different branches, as a log compaction of two kinds of "
            "deletes writes them."
        ),
        if_it_fails="Each entry states its branch; the branch of the first entry does not hold for the others.",
        flags=("crash", "silent-stale"),
    )


def several_fields() -> Iterator[FileCase]:
    """Ordering values of several fields: branch 12, which later releases added."""
    pair = values_of_fields(VALUES["long"][0], VALUES["string"][0])
    local = (encode_long(LOCAL_DATE) + encode_long(20089), {"type": "date", "value": "2025-01-01"})
    yield delete_block_case(
        "ordering-array",
        delete_entry("a", pair),
        delete_entry("b", values_of_fields(NATURAL, NO_ORDERING)),
        delete_entry("c", values_of_fields()),
        needs=SEVERAL,
        says=(
            "Several ordering values are stored as branch 12: a list of values of the other branches, which may include null."
        ),
        if_it_fails="The branches inside the list have the same numbers; the list itself is a union of null and array.",
    )
    yield delete_block_case(
        "ordering-array-with-a-local-date",
        delete_entry("a", values_of_fields(local, VALUES["date"][0])),
        needs=SEVERAL,
        says="Branch 12 inside a list is a date of another Java class; both classes of dates count days since 1970.",
        if_it_fails="The union of the list's items has its own branch 12.",
    )


def forms() -> Iterator[FileCase]:
    """The list of entries in every form that Avro allows."""
    yield whole_file_case(
        "delete.no-entries",
        raw_delete_block(delete_list(), [], HEADER),
        avro_block(2, make_row("z", 1, 2)),
        rules=(*RULES, "LF-017"),
        errata=ERRATA,
        says=(
            "The block that initializes each file group of a metadata table has no entries, no schema, and a content "
            "of nine bytes."
        ),
        if_it_fails="An empty list is one zero byte; a delete block needs no schema in its header.",
        flags=("crash",),
    )
    made = [delete_entry(key, value) for key, value in zip("abcde", [NATURAL, *VALUES["long"]], strict=False)]
    data, shows = [one for one, _ in made], [shown for _, shown in made]
    two = encode_long(2) + b"".join(data[:2]) + encode_long(3) + b"".join(data[2:]) + b"\x00"
    sized = encode_long(-2) + encode_long(sum(map(len, data[:2]))) + b"".join(data[:2])
    negative = (
        sized + encode_long(1) + data[2] + encode_long(-2) + encode_long(sum(map(len, data[3:]))) + b"".join(data[3:]) + b"\x00"
    )
    for name, body in (("in-two-array-blocks", two), ("in-array-blocks-with-sizes", negative)):
        yield whole_file_case(
            f"delete.{name}",
            raw_delete_block(body, shows, HEADER),
            avro_block(2, make_row("z", 1, 2)),
            rules=RULES,
            errata=ERRATA,
            says=(
                "The list may consist of several Avro blocks; a negative count is followed by the size of the block in bytes."
            ),
            if_it_fails="Read the Avro blocks of the list until a count of 0; a negative count is followed by a size.",
            flags=("silent-stale", "crash"),
        )
    yield delete_block_case(
        "many-entries",
        *(delete_entry(f"key-{n:05}", VALUES["long"][n % 2]) for n in range(1100)),
        says="A delete block with 1100 entries is read.",
        if_it_fails="A count above 63 takes more than one byte.",
    )


def keys() -> Iterator[FileCase]:
    """Keys and partitions."""
    yield delete_block_case(
        "three-entries",
        delete_entry("k1", NATURAL, "p=1"),
        delete_entry("k2", VALUES["long"][2], "p=1"),
        delete_entry("k3", VALUES["string"][0], "p=2"),
        rules=(*RULES, "BLK-013"),
        says="A delete block has key, partition path and ordering value of each deleted record.",
        if_it_fails="The content is a length of four bytes and an Avro list of records of three unions, without Kryo.",
    )
    yield delete_block_case(
        "partition-null-or-empty",
        delete_entry("a", NATURAL, None),
        delete_entry("b", NATURAL, ""),
        delete_entry("c", NATURAL, "record_index"),
        rules=(*RULES, "BLK-013"),
        says="A partition path may be null, empty, or a partition of the metadata table.",
        if_it_fails="The partition path is a union with null; null and the empty text are different values.",
    )
    yield delete_block_case(
        "keys-that-are-not-ascii",
        *(delete_entry(key, NATURAL, "größe=ü") for key in ("é", "名前", "🜁", "", "a\x00b", "#HUDI#")),
        says="Keys and partition paths may be any text.",
        if_it_fails="Texts are UTF-8 with a length in bytes.",
    )
    yield delete_block_case(
        "one-key-twice",
        delete_entry("a", VALUES["long"][0]),
        delete_entry("a", VALUES["long"][2]),
        says="A key that occurs twice is shown twice, in stored order.",
        if_it_fails="An inspection does not merge.",
    )


def kryo() -> Iterator[FileCase]:
    """Content versions 1 (keys) and 2 (records with ordering values) of tables before version 8."""
    meaning: dict[str, list[Json]] = json.loads((KRYO / "meaning.json").read_text(encoding="utf-8"))
    for name, held in meaning.items():
        kind, _, what = name.partition(".")
        shows = [entry | {"ordering": _canonical(entry["ordering"])} for entry in held]
        version = {"keys": 1, "records": 2}[kind]
        content, behind = (KRYO / f"{name}.bin").read_bytes(), avro_block(2, make_row("z", 1, 2))
        # Keys without an ordering value mean Integer 0, which Apache Hudi's classes use in this case.
        none = [entry | {"ordering": NATURAL[1]} for entry in shows]
        accept = (
            (expected_inspection(raw_delete_block(content, none, HEADER, version), behind),) if kind == "keys" and shows else ()
        )
        yield whole_file_case(
            f"delete.kryo-{kind}.{what.replace('0.12', '0-12')}",
            raw_delete_block(content, shows, HEADER, version),
            behind,
            accept=accept,
            rules=("BLK-007", "BLK-009", "BLK-010"),
            errata=("ER-016", "ER-017"),
            says=f"A delete block of content version {version} is a Kryo array of {kind}.",
            if_it_fails="Kryo writes the class by its name, then its fields in the order of their names.",
            flags=("silent-stale", "lost-write"),
            producer={
                "engine": "hand",
                "note": "the content was serialized by Apache Hudi's own classes (reference/tests/data/kryo)",
            },
        )


def _canonical(ordering: Json) -> Json:
    """Times and decimals in the form of the contract."""
    if ordering is not None and ordering["type"] == "decimal":
        return ordering | {"value": format(Decimal(ordering["value"]), "f")}
    if ordering is None or ordering["type"] != "timestamp-micros":
        return ordering
    moment = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=int(ordering["value"]))
    return ordering | {"value": moment.strftime("%Y-%m-%dT%H:%M:%S.%f").rstrip("0").rstrip(".") + "Z"}
