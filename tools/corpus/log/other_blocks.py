"""Valid log files: blocks of Parquet, HFile and change capture, and commands."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from tools.corpus.avro_bytes import Schema, canonical_rows, encode_datum, record_schema, schema_text, stored_schema
from tools.corpus.case import FileCase
from tools.corpus.hfile.builder import CRC32, NONE, Shape, build_hfile
from tools.corpus.log.blocks import (
    ROW,
    avro_block,
    delete_block,
    delete_entry,
    make_row,
    parquet_bytes,
    raw_parquet_block,
    rollback_block,
)
from tools.corpus.log.builder import COMMAND, INSTANT, SCHEMA, TARGET, Block, Json, frame_records, log_file_name
from tools.corpus.log.file_cases import framed_only, whole_file_case
from tools.corpus.names import instant_time


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    yield whole_file_case(
        "every-kind-of-block",
        avro_block(1, make_row("a")),
        parquet_block(2, make_row("b", 2, 2)),
        hfile_block(3, make_row("c", 3, 3)),
        delete_block(4, delete_entry("a")),
        rollback_block(5, 4),
        rules=("LF-001", "LF-008", "LF-015", "LF-020", "BLK-001", "BLK-006", "BLK-018", "BLK-023", "BLK-027"),
        errata=("ER-013",),
        says="In a file with a block of each type, each block is decoded by its own type.",
        if_it_fails="The type of a block does not determine the type of the next one.",
    )
    yield from parquet_blocks()
    yield from hfile_blocks()
    yield from change_capture()
    yield from commands()


def parquet_block(second: int, *rows: dict[str, Any], **options: Any) -> Block:
    """A Parquet data block of rows of ROW."""
    kinds = {field["name"]: pa.int64() if field["name"] == "n" else pa.string() for field in ROW["fields"]}
    # Columns are nullable as in the header's schema, because Apache Hudi refuses a file that differs from its header.
    nullable = {field["name"]: isinstance(field["type"], list) for field in ROW["fields"]}
    schema = pa.schema([pa.field(column, kind, nullable[column]) for column, kind in kinds.items()])
    table = pa.table({column: pa.array([one[column] for one in rows], kind) for column, kind in kinds.items()}, schema)
    return raw_parquet_block(second, parquet_bytes(table, **options), canonical_rows(ROW, rows))


def parquet_blocks() -> Iterator[FileCase]:
    """Parquet data blocks."""
    rows = [make_row("b", 1), make_row("a", None), make_row("é", 3)]
    rules = ("BLK-027", "BLK-028", "BLK-030", "LF-008", "LF-020")
    forms: Sequence[tuple[str, Sequence[dict[str, Any]], dict[str, Any], str]] = (
        ("three-rows", rows, {}, "has only a complete Parquet file as its content"),
        ("no-rows", [], {}, "may have no rows"),
        ("gzip", rows, {"compression": "gzip"}, "may have compressed pages"),
        ("several-row-groups", rows * 3, {"row_group_size": 2}, "may have several row groups"),
        ("plain-pages", rows, {"use_dictionary": False}, "may have pages without dictionary"),
    )
    for form, held, options, meaning in forms:
        yield whole_file_case(
            f"parquet.{form}",
            parquet_block(1, *held, **options),
            avro_block(2, make_row("z", 1, 2)),
            rules=rules,
            errata=("ER-013", "ER-041"),
            says=f"A Parquet data block {meaning}.",
            if_it_fails="The content is only the file, without version and count.",
        )
    point = pa.struct([("x", pa.int32()), ("y", pa.list_(pa.int64()))])
    kinds = {"id": pa.string(), "m": pa.decimal128(10, 2), "p": point, "t": pa.timestamp("us", "UTC"), "d": pa.date32()}
    columns: dict[str, list[Any]] = {
        "id": ["a", "b"],
        "m": [None, "-1.50"],
        "p": [{"x": 1, "y": [1, None]}, None],
        "t": [1_735_689_600_000_001, None],
        "d": [20089, -1],
    }
    arrays = {c: pa.array(v).cast(kinds[c]) if c == "m" else pa.array(v, kinds[c]) for c, v in columns.items()}
    shows = [
        {"id": "a", "m": None, "p": {"x": 1, "y": ["1", None]}, "t": "2025-01-01T00:00:00.000001Z", "d": "2025-01-01"},
        {"id": "b", "m": "-1.50", "p": None, "t": None, "d": "1969-12-31"},
    ]
    yield whole_file_case(
        "parquet.nested-and-logical",
        raw_parquet_block(1, parquet_bytes(pa.table(arrays)), shows, _typed()),
        rules=rules,
        errata=("ER-041",),
        says="Decimals, dates, times and nested values have the same meaning in a Parquet block as in an Avro block.",
        if_it_fails="Compare with log.file.avro.type.*: only the encoding differs.",
        flags=("silent-wrong-values",),
    )


def _typed() -> Schema:
    point = record_schema("point", ("x", ["null", "int"]), ("y", ["null", {"type": "array", "items": ["null", "long"]}]))
    return record_schema(
        "row",
        ("id", ["null", "string"]),
        ("m", ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]),
        ("p", ["null", point]),
        ("t", ["null", {"type": "long", "logicalType": "timestamp-micros"}]),
        ("d", ["null", {"type": "int", "logicalType": "date"}]),
    )


def hfile_block(second: int, *rows: dict[str, Any], shape: Shape | None = None, schema: Schema = ROW) -> Block:
    """An HFile data block; rows must be in the order of their keys."""
    entries = [(one["_hoodie_record_key"].encode(), encode_datum(schema, one)) for one in rows]
    header = [(INSTANT, instant_time(second)), (SCHEMA, schema_text(schema))]
    shown = {"rows": canonical_rows(schema, rows)}
    return Block("hfile", header, build_hfile(entries, shape).data, shown)


def hfile_blocks() -> Iterator[FileCase]:
    """HFile data blocks."""
    rows = [make_row(f"k{n:02}", n) for n in range(12)]
    forms: Sequence[tuple[str, Shape, str]] = (
        ("uncompressed", Shape(), "an uncompressed HFile"),
        ("gzip", Shape(gz=True), "an HFile whose blocks are gzip members"),
        ("crc-32", Shape(checksum=CRC32), "checksums of CRC-32"),
        ("without-checksums", Shape(checksum=NONE, minor=0, index_suffix=False, last_key="bare"), "the later layout"),
        ("several-blocks", Shape(per_block=5), "several data blocks"),
        ("two-index-levels", Shape(per_block=2, per_leaf=2), "an index of two levels"),
    )
    rules = ("BLK-023", "BLK-024", "BLK-030", "LF-008", "LF-020")
    for form, shape, meaning in forms:
        yield whole_file_case(
            f"hfile.{form}",
            hfile_block(1, *rows, shape=shape),
            avro_block(2, make_row("z", 1, 2)),
            rules=rules,
            errata=("ER-013", "ER-042"),
            says=f"An HFile data block with {meaning} is read.",
            if_it_fails=(
                "Offsets inside the HFile count from its own start; values are Avro data of the schema, without container."
            ),
        )
    yield whole_file_case(
        "hfile.no-rows",
        hfile_block(1),
        avro_block(2, make_row("z", 1, 2)),
        rules=rules,
        errata=("ER-042",),
        says="An HFile data block without entries is read.",
        if_it_fails="Such a file has no data block and an empty index.",
        flags=("crash",),
    )
    wide = [make_row(key) for key in ("Z", "a", "é", "\uffff", "🜁")]
    yield whole_file_case(
        "hfile.keys-in-byte-order",
        hfile_block(1, *wide),
        rules=("BLK-024", "BLK-025"),
        errata=("ER-042",),
        says="Keys are UTF-8 in the order of their bytes, also beyond the basic plane, where UTF-16 has another order.",
        if_it_fails="Compare keys as unsigned bytes; unlike Avro texts they have no length before them.",
    )
    keyed = stored_schema(("key", "string"), ("n", "int"))
    held = [{**make_row(key), "key": "", "n": n} for n, key in enumerate("ab")]
    for one in held:
        del one["id"]
    yield whole_file_case(
        "hfile.emptied-key-field",
        hfile_block(1, *held, schema=keyed).with_changes(
            shows={"rows": [one | {"key": one["_hoodie_record_key"]} for one in held]}
        ),
        rules=("BLK-024",),
        errata=("ER-042",),
        says="The key field of a value is stored empty; the reader fills it from the key of the entry.",
        if_it_fails="Fill an empty field named key from the key of the entry.",
        flags=("silent-wrong-values", "lost-write"),
    )


#: The rows in change records, without meta columns.
IMAGE = record_schema("row", ("id", "string"), ("n", ["null", "long"]))


def change_capture() -> Iterator[FileCase]:
    """The three forms of change blocks."""
    old, new = {"id": "b", "n": 1}, {"id": "b", "n": 2}
    first, last = {"id": "a", "n": None}, {"id": "c", "n": 3}
    moves = (("i", "a", None, first), ("u", "b", old, new), ("d", "c", last, None))
    by_key = record_schema("Record", ("op", ["string", "null"]), ("record_key", ["string", "null"]))
    by_key = {key: value for key, value in by_key.items() if key != "namespace"}
    text = ["null", "string"]
    before = record_schema("CDC", ("op", text), ("record_key", text), ("before", ["null", IMAGE]))
    both = record_schema("CDC", ("op", text), ("ts_ms", text), ("before", ["null", IMAGE]), ("after", ["null", "corpus.row"]))
    shapes: Sequence[tuple[str, Schema, tuple[str, ...]]] = (
        ("keys", by_key, ("BLK-034",)),
        ("keys-and-before", before, ("BLK-034", "BLK-035")),
        ("before-and-after", both, ("BLK-035", "BLK-036")),
    )
    everything = [{"op": o, "record_key": k, "ts_ms": instant_time(1), "before": b, "after": a} for o, k, b, a in moves]
    for shape, schema, rules in shapes:
        columns = [field["name"] for field in schema["fields"]]
        rows = [{column: change[column] for column in columns} for change in everything]
        yield whole_file_case(
            f"change-capture.{shape}",
            Block(
                "cdc",
                [(INSTANT, instant_time(1)), (SCHEMA, schema_text(schema))],
                frame_records([encode_datum(schema, one) for one in rows]),
                {"content_version": 3, "rows": [_change(one) for one in rows]},
            ),
            file=log_file_name(1, suffix=".cdc"),
            rules=("BLK-031", "BLK-032", "BLK-033", *rules),
            errata=("ER-013",),
            says="A change-capture block has the layout of an Avro data block; insert, update and delete are i, u and d.",
            if_it_fails="The block has type 6; the schema in the header states which of key, before and after it has.",
            flags=("lost-write", "silent-wrong-values"),
        )


def _change(one: dict[str, Any]) -> Json:
    return {column: canonical_rows(IMAGE, [value])[0] if isinstance(value, dict) else value for column, value in one.items()}


def commands() -> Iterator[FileCase]:
    """Command blocks."""
    yield framed_only(
        "command.rollback-after-its-target",
        avro_block(1, make_row("a")),
        avro_block(2, make_row("b", 2, 2)),
        rollback_block(3, 2),
        rollback_block(3, 2),
        rules=("BLK-001", "BLK-003", "LF-037", "LF-039"),
        errata=("ER-013", "ER-014", "ER-043"),
        says="Two rollbacks of one instant are both shown, and so are the blocks that they roll back.",
        if_it_fails="An inspection shows all blocks of the file, not only those that a merge applies.",
    )
    unknown = [(INSTANT, instant_time(3)), (TARGET, instant_time(1)), (COMMAND, "1")]
    yield framed_only(
        "command.unknown",
        avro_block(1, make_row("a")),
        Block("command", unknown),
        rules=("LF-039",),
        errata=("ER-043",),
        says="An undefined command is shown or refused; it is never treated as a rollback.",
        if_it_fails="Read the number of the command; only 0 is a rollback.",
        or_error=True,
    )
    yield framed_only(
        "command.without-its-type",
        avro_block(1, make_row("a")),
        Block("command", [(INSTANT, instant_time(3)), (TARGET, instant_time(1))]),
        rules=("BLK-003", "LF-039"),
        errata=("ER-043",),
        says="A command block without a command type is shown or refused.",
        if_it_fails="Only one command is defined, and a block must still name it.",
        or_error=True,
    )
