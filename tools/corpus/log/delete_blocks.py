"""Valid log files: delete blocks, every branch of the ordering value, every form of the content."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from tools.corpus.avro_bytes import binary, double, long, single, text
from tools.corpus.case import FileCase
from tools.corpus.log.blocks import NATURAL, NO_ORDERING, Entry, avro, delete, delete_list, delete_of, deletes, row
from tools.corpus.log.builder import INSTANT, Json, at, inspection
from tools.corpus.log.file_cases import CONTENT, whole

#: Releases with one ordering field do not support the union branch of several values.
SEVERAL = (*CONTENT, "merge.multiple-ordering-fields")
RULES = ("BLK-006", "BLK-007", "BLK-008", "BLK-009", "BLK-010")
ERRATA = ("ER-013", "ER-016", "ER-017")
HEADER = [(INSTANT, at(1))]
#: Delete contents of the versions before 3, serialized by Apache Hudi's own classes, and their meaning.
KRYO = Path(__file__).resolve().parents[3] / "reference" / "tests" / "data" / "kryo"

#: The branches of the union by their number: type in the contract's words.
BRANCHES = (
    "null", "boolean", "int", "long", "float", "double", "bytes", "string", "date", "decimal", "time-micros",
    "timestamp-micros", "array",
)  # fmt: skip
#: The branch that the union of array items has in place of the array: a date of another Java class.
LOCAL_DATE = 12


def branch(kind: str, value: bytes, shows: Json) -> Entry:
    """An ordering value: the number of its branch, and the value of the wrapper's one field."""
    return long(BRANCHES.index(kind)) + value, {"type": kind, "value": shows}


def decimal(unscaled: int, shows: str) -> Entry:
    """A decimal of scale 15: the unscaled number in its shortest form."""
    width = (unscaled + (unscaled < 0)).bit_length() // 8 + 1
    return branch("decimal", binary(unscaled.to_bytes(width, "big", signed=True)), shows)


#: Ordering values of each branch.
VALUES: dict[str, Sequence[Entry]] = {
    "boolean": [branch("boolean", b"\x01", True), branch("boolean", b"\x00", False)],
    "int": [branch("int", long(n), n) for n in (5, -1, 2**31 - 1, -(2**31))],
    "long": [branch("long", long(n), str(n)) for n in (5, 0, 1_700_000_000_000, 2**63 - 1, -(2**63))],
    "float": [branch("float", single(n), shown) for n, shown in ((1.5, "1.5"), (-0.0, "-0.0"), (0.1, "0.1"))],
    "double": [branch("double", double(n), shown) for n, shown in ((1.5, "1.5"), (float("-inf"), "-Infinity"), (0.1, "0.1"))],
    "bytes": [branch("bytes", binary(b"\x01"), "01"), branch("bytes", binary(b""), "")],
    "string": [branch("string", text(value), value) for value in ("ab", "", "é", "10")],
    "date": [branch("date", long(n), shown) for n, shown in ((20089, "2025-01-01"), (-1, "1969-12-31"))],
    "decimal": [
        decimal(1_500_000_000_000_000, "1.500000000000000"),
        decimal(-1_500_000_000_000_000, "-1.500000000000000"),
        decimal(0, "0.000000000000000"),
        decimal(10**29, "100000000000000.000000000000000"),
    ],
    "time-micros": [branch("time-micros", long(36_000_500_000), "10:00:00.5")],
    "timestamp-micros": [branch("timestamp-micros", long(1_735_689_600_000_000), "2025-01-01T00:00:00Z")],
}


def array(*parts: Entry) -> Entry:
    """Ordering values of several fields."""
    items = (long(len(parts)) + b"".join(part for part, _ in parts) if parts else b"") + b"\x00"
    return branch("array", long(1) + items, [shows for _, shows in parts])


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    yield from branches()
    yield from several_fields()
    yield from forms()
    yield from keys()
    yield from kryo()


def of(name: str, *entries: Entry, **more: Any) -> FileCase:
    """A file with one delete block and a data block after it."""
    more = {"rules": RULES, "errata": ERRATA, "flags": ("silent-stale", "lost-write")} | more
    return whole(f"delete.{name}", deletes(1, *entries), avro(2, row("z", 1, 2)), **more)


def branches() -> Iterator[FileCase]:
    """Ordering values of one field."""
    for kind, values in VALUES.items():
        yield of(
            f"ordering-{kind}",
            *(delete(f"k{n}", value) for n, value in enumerate(values)),
            says=f"An ordering value of type {kind} is stored as the number of its branch and the value.",
            if_it_fails=f"Branch {BRANCHES.index(kind)} of the union is a record with one field, which takes no more bytes.",
        )
    yield of(
        "ordering-none",
        delete("natural", NATURAL),
        delete("long-zero", branch("long", long(0), "0")),
        delete("null", NO_ORDERING),
        rules=(*RULES, "BLK-012"),
        errata=(*ERRATA, "ER-050"),
        says="Integer 0 (no ordering value), long 0 (an ordering value) and null are three different things.",
        if_it_fails=(
            "Keep the type of an ordering value with the value: only Integer 0 means that there is no ordering value."
        ),
    )
    mixed = [values[0] for values in VALUES.values()]
    yield of(
        "ordering-mixed",
        *(delete(f"k{n}", value) for n, value in enumerate([NATURAL, *mixed, NO_ORDERING])),
        says=(
            "The ordering values of one delete block may have different branches, as a log compaction of two kinds of "
            "deletes writes them."
        ),
        if_it_fails="Each entry states its branch; the branch of the first entry does not hold for the others.",
        flags=("crash", "silent-stale"),
    )


def several_fields() -> Iterator[FileCase]:
    """Ordering values of several fields: branch 12, which later releases added."""
    pair = array(VALUES["long"][0], VALUES["string"][0])
    local = (long(LOCAL_DATE) + long(20089), {"type": "date", "value": "2025-01-01"})
    yield of(
        "ordering-array",
        delete("a", pair),
        delete("b", array(NATURAL, NO_ORDERING)),
        delete("c", array()),
        needs=SEVERAL,
        says=(
            "Several ordering values are stored as branch 12: a list of values of the other branches, which may include null."
        ),
        if_it_fails="The branches inside the list have the same numbers; the list itself is a union of null and array.",
    )
    yield of(
        "ordering-array-with-a-local-date",
        delete("a", array(local, VALUES["date"][0])),
        needs=SEVERAL,
        says="Branch 12 inside a list is a date of another Java class; both classes of dates count days since 1970.",
        if_it_fails="The union of the list's items has its own branch 12.",
    )


def forms() -> Iterator[FileCase]:
    """The list of entries in every form that Avro allows."""
    yield whole(
        "delete.no-entries",
        delete_of(delete_list(), [], HEADER),
        avro(2, row("z", 1, 2)),
        rules=(*RULES, "LF-017"),
        errata=ERRATA,
        says=(
            "The block that initializes each file group of a metadata table has no entries, no schema, and a content "
            "of nine bytes."
        ),
        if_it_fails="An empty list is one zero byte; a delete block needs no schema in its header.",
        flags=("crash",),
    )
    made = [delete(key, value) for key, value in zip("abcde", [NATURAL, *VALUES["long"]], strict=False)]
    data, shows = [one for one, _ in made], [shown for _, shown in made]
    two = long(2) + b"".join(data[:2]) + long(3) + b"".join(data[2:]) + b"\x00"
    sized = long(-2) + long(sum(map(len, data[:2]))) + b"".join(data[:2])
    negative = sized + long(1) + data[2] + long(-2) + long(sum(map(len, data[3:]))) + b"".join(data[3:]) + b"\x00"
    for name, body in (("in-two-array-blocks", two), ("in-array-blocks-with-sizes", negative)):
        yield whole(
            f"delete.{name}",
            delete_of(body, shows, HEADER),
            avro(2, row("z", 1, 2)),
            rules=RULES,
            errata=ERRATA,
            says=(
                "The list may consist of several Avro blocks; a negative count is followed by the size of the block in bytes."
            ),
            if_it_fails="Read the Avro blocks of the list until a count of 0; a negative count is followed by a size.",
            flags=("silent-stale", "crash"),
        )
    yield of(
        "many-entries",
        *(delete(f"key-{n:05}", VALUES["long"][n % 2]) for n in range(1100)),
        says="A delete block with 1100 entries is read.",
        if_it_fails="A count above 63 takes more than one byte.",
    )


def keys() -> Iterator[FileCase]:
    """Keys and partitions."""
    yield of(
        "three-entries",
        delete("k1", NATURAL, "p=1"),
        delete("k2", VALUES["long"][2], "p=1"),
        delete("k3", VALUES["string"][0], "p=2"),
        rules=(*RULES, "BLK-013"),
        says="A delete block has key, partition path and ordering value of each deleted record.",
        if_it_fails="The content is a length of four bytes and an Avro list of records of three unions, without Kryo.",
    )
    yield of(
        "partition-null-or-empty",
        delete("a", NATURAL, None),
        delete("b", NATURAL, ""),
        delete("c", NATURAL, "record_index"),
        rules=(*RULES, "BLK-013"),
        says="A partition path may be null, empty, or a partition of the metadata table.",
        if_it_fails="The partition path is a union with null; null and the empty text are different values.",
    )
    yield of(
        "keys-that-are-not-ascii",
        *(delete(key, NATURAL, "größe=ü") for key in ("é", "名前", "🜁", "", "a\x00b", "#HUDI#")),
        says="Keys and partition paths may be any text.",
        if_it_fails="Texts are UTF-8 with a length in bytes.",
    )
    yield of(
        "one-key-twice",
        delete("a", VALUES["long"][0]),
        delete("a", VALUES["long"][2]),
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
        content, behind = (KRYO / f"{name}.bin").read_bytes(), avro(2, row("z", 1, 2))
        # Keys without an ordering value mean Integer 0, which Apache Hudi's classes use in this case.
        none = [entry | {"ordering": NATURAL[1]} for entry in shows]
        accept = (inspection(delete_of(content, none, HEADER, version), behind),) if kind == "keys" and shows else ()
        yield whole(
            f"delete.kryo-{kind}.{what.replace('0.12', '0-12')}",
            delete_of(content, shows, HEADER, version),
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
