"""Valid log files: Avro data blocks with any number of rows and every type."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tools.corpus import avro_bytes
from tools.corpus.avro_bytes import Schema, encode_datum, record_schema, schema_text
from tools.corpus.case import FileCase
from tools.corpus.log.blocks import ROW, avro_block, make_row
from tools.corpus.log.builder import INSTANT, SCHEMA, Block, Json, frame_records
from tools.corpus.log.file_cases import framed_only, whole_file_case
from tools.corpus.names import instant_time

RULES = ("BLK-018", "BLK-019", "BLK-020", "BLK-021", "BLK-022", "LF-008", "LF-020", "LF-038")
#: A key and a value of the tested type.
Value = tuple[Any, Json]


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    yield from counts()
    yield from contents()
    yield from primitive()
    yield from logical()
    yield from nested()


def counts() -> Iterator[FileCase]:
    """Numbers of rows, from none to more than are decoded row by row."""
    yield whole_file_case(
        "avro.no-rows",
        avro_block(1),
        avro_block(2, make_row("a", 1, 2)),
        rules=RULES,
        errata=("ER-016", "ER-040"),
        says="A block with a count of zero has no rows, and the next block is found.",
        if_it_fails="A content of eight bytes, a version and a count of 0, is enough.",
        flags=("crash",),
    )
    yield whole_file_case(
        "avro.one-row",
        avro_block(1, make_row("a", 7)),
        rules=RULES,
        errata=("ER-013", "ER-016", "ER-040"),
        says="An Avro block has content version 3, a count, and a length of four bytes before each datum.",
        if_it_fails="Type 3 is Avro; the length of a record has four bytes; the content has no container and no schema.",
    )
    yield whole_file_case(
        "avro.rows-in-stored-order",
        avro_block(1, *(make_row(key, n) for n, key in enumerate("cabca"))),
        rules=RULES,
        errata=("ER-040",),
        says="Rows are shown in stored order, also if a key occurs twice.",
        if_it_fails="An inspection does not merge; a block may have several versions of a key.",
        flags=("silent-stale",),
    )
    for version in (1, 2):
        rows = [make_row("a"), make_row("b", None)]
        block = avro_block(1, *rows)
        old = block.with_changes(
            content=frame_records([encode_datum(ROW, one) for one in rows], version),
            shows={**block.shows, "content_version": version},
        )
        yield whole_file_case(
            f"avro.content-version-{version}",
            old,
            rules=("BLK-019",),
            errata=("ER-016",),
            says=f"Content version {version}, of releases before table version 8, differs from version 3 only in the number.",
            if_it_fails="The content version is not the log format version; versions 1, 2 and 3 all have a count.",
        )
    yield from many_rows()


def many_rows() -> Iterator[FileCase]:
    """Blocks with so many rows that a reader may use a fast path."""
    number = record_schema("row", ("id", "string"), ("n", ["null", "long"]))
    few = [{"id": f"k{n}", "n": None if n % 7 == 0 else n * 10**15} for n in range(1201)]
    yield whole_file_case(
        "avro.many-rows",
        avro_block(1, *few, schema=number),
        rules=RULES,
        says="1201 rows are read, of which every seventh has a null.",
        if_it_fails="If fewer rows are right, check the code path that is used for many rows.",
    )
    color = {"type": "enum", "name": "color", "symbols": ["red", "blue"]}
    mixed = record_schema(
        "row", ("id", "string"), ("d", _date("date", "int")), ("m", ["null", DECIMAL]),
        ("r", ["null", record_schema("in", ("x", "int"))]), ("l", {"type": "array", "items": "int"}), ("e", color),
    )  # fmt: skip
    rows = [_mixed(n) for n in range(1001)]
    yield whole_file_case(
        "avro.many-rows-of-mixed-types",
        avro_block(1, *(stored for stored, _ in rows), schema=mixed, shows=[shown for _, shown in rows]),
        rules=RULES,
        says="1001 rows of dates, decimals, records, lists and enumerations are read.",
        if_it_fails="If fewer rows are right, check the code path that is used for many rows.",
        flags=("silent-wrong-values",),
    )


def _mixed(n: int) -> tuple[dict[str, Any], Json]:
    third, inner, numbers, color = n % 3 == 0, {"x": n} if n % 5 else None, list(range(n % 4)), ("red", "blue")[n % 2]
    stored = {"id": f"k{n}", "d": n % 28, "m": None if third else _unscaled(n), "r": inner, "l": numbers, "e": color}
    money = f"{n // 100}.{n % 100:02}"
    return stored, stored | {"d": f"1970-01-{n % 28 + 1:02}", "m": None if third else money}


def contents() -> Iterator[FileCase]:
    """Contents of texts and records."""
    texts = ["", "é", "名前", "🜁", "e\u0301", "\x00", "a\nb", "￿", "\u202eabc", "#HUDI#"]
    yield whole_file_case(
        "avro.texts",
        avro_block(1, *({**make_row(f"k{n}"), "id": text} for n, text in enumerate(texts))),
        rules=("BLK-022",),
        says="Texts are returned unchanged: empty, composed, beyond the basic plane, or with a zero byte.",
        if_it_fails="Texts are UTF-8 with a length in bytes; they are not normalized.",
        flags=("silent-wrong-values",),
    )
    yield whole_file_case(
        "avro.long-record",
        avro_block(1, {"id": "x" * 66_000}, {"id": "b"}, schema=record_schema("row", ("id", "string"))),
        rules=("BLK-021",),
        errata=("ER-040",),
        says="A record of more than 65535 bytes is read.",
        if_it_fails="The length of a record has four bytes.",
    )
    described = {
        **record_schema("row", ("id", "string"), ("n", "int"), namespace="a.b.c"),
        "doc": "rows",
        "custom.property": [1],
    }
    described["fields"] = [
        {**field, "default": default, "doc": "d"} for field, default in zip(described["fields"], ("x", 5), strict=True)
    ]
    yield whole_file_case(
        "avro.schema-with-defaults",
        avro_block(1, {"id": "a", "n": 0}, schema=described),
        rules=("LF-038", "BLK-022"),
        says="Defaults, comments and unknown properties of the schema do not change how a datum is decoded.",
        if_it_fails="A default is for a field that the writer's schema lacks; a datum has every field of its own schema.",
    )
    yield whole_file_case(
        "avro.without-meta-columns",
        avro_block(1, {"id": "a"}, {"id": "b"}, schema=record_schema("row", ("id", "string"))),
        rules=("LF-038", "BLK-022"),
        says="The schema in the header states all columns of a block, including meta columns; here there are none.",
        if_it_fails="Use only the columns of the schema in the header.",
    )
    yield framed_only(
        "avro.no-schema",
        avro_block(1, make_row("a")).with_changes(header=[(INSTANT, instant_time(1))]),
        avro_block(2, make_row("b", 2, 2)),
        rules=("LF-038", "LF-010"),
        says="Without a schema in the header the rows cannot be decoded; the block is listed and the next one is found.",
        if_it_fails="Framing does not need a schema; decoding the content does.",
        flags=("crash",),
        or_error=True,
    )


DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}


def primitive() -> Iterator[FileCase]:
    """Types that are not logical types."""
    numbers: Sequence[tuple[str, Any, Sequence[Value]]] = (
        ("boolean", "boolean", [(True, True), (False, False)]),
        ("int", "int", [(n, n) for n in (0, -1, 63, 64, -64, -65, 2**31 - 1, -(2**31))]),
        ("long", "long", [(n, str(n)) for n in (0, -1, 2**53 + 1, 2**63 - 1, -(2**63))]),
        ("float", "float", [(1.5, "1.5"), (-0.0, "-0.0"), (float("inf"), "Infinity"), (float("nan"), "NaN"), (0.1, "0.1")]),
        (
            "double",
            "double",
            [(0.1, "0.1"), (-0.0, "-0.0"), (float("-inf"), "-Infinity"), (float("nan"), "NaN"), (5e-324, "5e-324")],
        ),
        ("bytes", "bytes", [(b"", ""), (b"\x00\xff", "00ff"), (b"#HUDI#", b"#HUDI#".hex())]),
        ("string", "string", [("", ""), ("a", "a")]),
        ("fixed", {"type": "fixed", "name": "four", "size": 4}, [(b"\x00\x01\xfe\xff", "0001feff")]),
        ("enum", {"type": "enum", "name": "color", "symbols": ["red", "green"]}, [("green", "green"), ("red", "red")]),
    )
    for name, avro_type, values in numbers:
        yield typed_case(f"type.{name}", avro_type, values)
    yield typed_case("type.null-first", ["null", "int"], [(None, None), (0, 0), (-1, -1)])
    yield typed_case("type.null-last", ["int", "null"], [(None, None), (0, 0), (-1, -1)])
    yield typed_case("type.union-of-one", ["string"], [("a", "a")])


def logical() -> Iterator[FileCase]:
    """Logical types: the stored number and its meaning."""
    second, milli, micro = 1_735_689_600, 1_735_689_600_123, 1_735_689_600_000_001
    cents = ((b"\x00", "0.00"), (b"\x7b", "1.23"), (b"\xff", "-0.01"), (b"\x00\x80", "1.28"), (b"\x00\x00\x7b", "1.23"))
    values: Sequence[tuple[str, Any, Sequence[Value]]] = (
        ("date", "int", [(0, "1970-01-01"), (20089, "2025-01-01"), (-1, "1969-12-31")]),
        ("time-millis", "int", [(0, "00:00:00"), (36_000_500, "10:00:00.5")]),
        ("time-micros", "long", [(1, "00:00:00.000001"), (86_399_999_999, "23:59:59.999999")]),
        ("timestamp-millis", "long", [(milli, "2025-01-01T00:00:00.123Z"), (-1, "1969-12-31T23:59:59.999Z")]),
        ("timestamp-micros", "long", [(micro, "2025-01-01T00:00:00.000001Z"), (-1, "1969-12-31T23:59:59.999999Z")]),
        ("local-timestamp-millis", "long", [(second * 1000, "2025-01-01T00:00:00"), (milli, "2025-01-01T00:00:00.123")]),
        ("local-timestamp-micros", "long", [(micro, "2025-01-01T00:00:00.000001")]),
        ("uuid", "string", [("f0000000-0000-4000-8000-000000000001",) * 2]),
    )
    wrong = ("silent-wrong-values",)
    for name, physical, found in values:
        yield typed_case(f"type.{name}", _date(name, physical), found, flags=wrong, errata=_errata(name))
    wide = {**DECIMAL, "type": "fixed", "name": "money", "size": 6}
    yield typed_case("type.decimal-bytes", DECIMAL, cents, flags=wrong)
    yield typed_case("type.decimal-fixed", wide, [(b"\x00" * 5 + b"\x7b", "1.23"), (b"\xff" * 6, "-0.01")], flags=wrong)
    yield typed_case("type.decimal-null", ["null", DECIMAL], [(None, None), (_unscaled(-150), "-1.50")], flags=wrong)


def _errata(logical_type: str) -> tuple[str, ...]:
    return ("ER-060",) if logical_type == "timestamp-millis" else ()


def nested() -> Iterator[FileCase]:
    """Lists, maps and records in each other."""
    point = record_schema("point", ("x", "int"), ("y", ["null", "string"]))
    numbers = {"type": "array", "items": ["null", "int"]}
    yield typed_case("type.array", numbers, [([], []), ([1, None, -1], [1, None, -1])])
    yield typed_case("type.map", {"type": "map", "values": "string"}, [({}, {}), ({"é": "1", "a": ""}, {"a": "", "é": "1"})])
    yield typed_case("type.record", point, [({"x": 1, "y": None}, {"x": 1, "y": None})])
    yield typed_case("type.record-or-null", ["null", point], [(None, None), ({"x": 1, "y": "a"}, {"x": 1, "y": "a"})])
    deep = {"type": "array", "items": {"type": "map", "values": point}}
    yield typed_case(
        "type.array-of-maps-of-records", deep, [([{"k": {"x": 1, "y": "b"}}, {}], [{"k": {"x": 1, "y": "b"}}, {}])]
    )
    yield typed_case("type.array-of-arrays", {"type": "array", "items": numbers}, [([[], [1], [None]], [[], [1], [None]])])
    twice = record_schema("row", ("id", "string"), ("first", point), ("second", ["null", "corpus.point"]))
    held = {"id": "a", "first": {"x": 1, "y": "b"}, "second": {"x": 2, "y": None}}
    yield whole_file_case(
        "avro.type.named-twice",
        avro_block(1, held, schema=twice),
        rules=("BLK-022", "LF-038"),
        says="A named type is defined once and is referred to by its name afterwards.",
        if_it_fails="Store the named types of the schema; a reference may include the namespace.",
    )
    yield from collections_in_blocks()


def collections_in_blocks() -> Iterator[FileCase]:
    """Lists and maps in several Avro blocks: a count, or a negative count and the size in bytes."""
    long, text = avro_bytes.encode_long, avro_bytes.encode_string
    array = record_schema("row", ("id", "string"), ("v", {"type": "array", "items": "int"}))
    parts = long(2) + long(1) + long(2) + long(-1) + long(1) + long(3) + long(1) + long(4) + long(0)
    yield whole_file_case(
        "avro.type.array-in-several-blocks",
        raw_block(array, [text("a") + parts], [{"id": "a", "v": [1, 2, 3, 4]}]),
        rules=("BLK-022",),
        says="A list may consist of several Avro blocks; a negative count is followed by the size of the block in bytes.",
        if_it_fails="Read the Avro blocks of a list until a count of 0; a negative count is followed by a size.",
        flags=("crash", "silent-wrong-values"),
    )
    mapping = record_schema("row", ("id", "string"), ("v", {"type": "map", "values": "int"}))
    entry = text("k") + long(5)
    parts = long(-1) + long(len(entry)) + entry + long(1) + text("l") + long(6) + long(0)
    yield whole_file_case(
        "avro.type.map-in-several-blocks",
        raw_block(mapping, [text("a") + parts], [{"id": "a", "v": {"k": 5, "l": 6}}]),
        rules=("BLK-022",),
        says="A map may consist of several Avro blocks, like a list.",
        if_it_fails="Read the Avro blocks of a map until a count of 0; a negative count is followed by a size.",
        flags=("crash", "silent-wrong-values"),
    )


def typed_case(name: str, avro_type: Any, values: Sequence[Value], **more: Any) -> FileCase:
    """A block with one value per row: the stored value and its canonical form."""
    schema = record_schema("row", ("id", "string"), ("v", avro_type))
    rows = [{"id": f"k{n}", "v": stored} for n, (stored, _) in enumerate(values)]
    shows = [{"id": f"k{n}", "v": shown} for n, (_, shown) in enumerate(values)]
    flags = more.pop("flags", ("silent-wrong-values", "crash"))
    return whole_file_case(
        f"avro.{name}",
        avro_block(1, *rows, schema=schema, shows=shows),
        rules=("BLK-022", "BLK-030", "LF-038"),
        says=f"Values of the type {name.partition('.')[2]} are read as they were written.",
        if_it_fails=(
            "Decode the datum by hand with the binary encoding of the type; the schema in the header states the type."
        ),
        flags=flags,
        **more,
    )


def raw_block(schema: Schema, data: Sequence[bytes], shows: Sequence[Mapping[str, Json]]) -> Block:
    """An Avro block of records that were encoded by hand."""
    header = [(INSTANT, instant_time(1)), (SCHEMA, schema_text(schema))]
    return Block("avro", header, frame_records(data), {"content_version": 3, "rows": list(shows)})


def _date(logical_type: str, physical: str) -> Schema:
    return {"type": physical, "logicalType": logical_type}


def _unscaled(number: int) -> bytes:
    return struct.pack(">i", number)
