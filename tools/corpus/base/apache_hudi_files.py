"""Single files that writers of Apache Hudi wrote. The bytes are frozen; `apache_hudi_writer.py` writes them.

The expected content follows from the rows that were written (`apache_hudi_rows.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tools.corpus.base.apache_hudi_rows import (
    BASE_INSTANT,
    FILE_ID,
    INSTANT,
    META,
    SMALL,
    TARGET,
    TOKEN,
    TYPED,
    Json,
    change_schema,
    changes,
    changes_shown,
    encode_rows,
    meta_columns,
    nullable,
    record_schema,
    schema_text,
    small_rows,
    small_shown,
    typed_rows,
    typed_shown,
)
from tools.corpus.case import FileCase

RELEASES = {"1.0.2": "by-hudi-1-0", "1.2.0": "by-hudi-1-2"}
LOG_FILE = f".{FILE_ID}_{INSTANT}.log.1_{TOKEN}"
#: Log files whose bytes differ between releases in more than the order of header entries.
DIFFERENT = ("parquet", "hfile", "several-blocks")
BASE_FILE = f"{FILE_ID}_{TOKEN}_{INSTANT}"


@dataclass(frozen=True, kw_only=True)
class HudiFile:
    """One file, the input of its writer, and the expected inspection.

    `blocks` of a log file: type, header, input of the writer (`given`), and inspection (`shows`). `rows` of a base file.
    """

    area: str
    kind: str
    version: str
    says: str
    requirements: Sequence[str]
    needs: Sequence[str]
    if_it_fails: str
    file: str = LOG_FILE
    blocks: Sequence[Mapping[str, Any]] = ()
    schema: Mapping[str, Json] = field(default_factory=dict)
    rows: Sequence[Mapping[str, Any]] = ()
    with_meta: bool = True
    options: Mapping[str, str] = field(default_factory=dict)
    shows: Mapping[str, Json] = field(default_factory=dict)
    keys: Sequence[str] | None = None
    prefix: str | None = None
    errata: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The name of the case, which ends with the release."""
        return f"{self.kind}.{RELEASES[self.version]}"

    def case(self) -> FileCase:
        """The case; its bytes are kept as committed."""
        return FileCase(
            area=self.area,
            name=self.name,
            requirements=self.requirements,
            says=f"{self.says} Apache Hudi {self.version} wrote the file.",
            if_it_fails=self.if_it_fails,
            needs=self.needs,
            flags=("silent-stale", "lost-write"),
            errata=self.errata,
            producer={"engine": "apache-hudi", "version": self.version},
            file=self.file,
            content=None,
            verdict="valid",
            inspect=self.inspection(),
            keys=self.keys,
            prefix=self.prefix,
            derived_by=("rows given to the writer",),
        )

    def inspection(self) -> Json:
        """The expected inspection, without the offsets of the blocks of a log file."""
        if not self.blocks:
            return dict(self.shows)
        blocks = [
            {"type": b["type"], "version": 1, "header": b["header"], "footer": {}} | b.get("shows", {}) for b in self.blocks
        ]
        return {"format": "log", "blocks": [{"offset": 0} | blocks[0], *blocks[1:]]}


def cases() -> Iterator[FileCase]:
    """One case for each file."""
    return (made.case() for made in list_files())


def list_files() -> Iterator[HudiFile]:
    """Every file."""
    for version in RELEASES:
        yield from _log_files(version)
        yield from _base_files(version)


def _data(kind: str, avro: Mapping[str, Json], given: Sequence[Any], shown: Json, **header: str) -> dict[str, Any]:
    """A block of rows."""
    shows = {"rows": shown} | ({"content_version": 3} if kind in ("avro", "cdc") else {})
    whole = {"INSTANT_TIME": INSTANT, "SCHEMA": schema_text(avro), **header}
    return {"type": kind, "header": whole, "schema": avro, "given": given, "shows": shows}


def _small(*keys: str, **header: str) -> dict[str, Any]:
    return _data("avro", SMALL, small_rows(*keys), small_shown(*keys), **header)


#: (key, type of the ordering value, its text for the writer, its canonical form)
ORDERINGS = (
    ("natural", "int", "0", 0),
    ("int", "int", "5", 5),
    ("long", "long", "1700000000000", "1700000000000"),
    ("zero", "long", "0", "0"),
    ("float", "float", "1.5", "1.5"),
    ("double", "double", "-0.25", "-0.25"),
    ("text", "string", "é", "é"),
    ("decimal", "decimal", "-1.5", "-1.500000000000000"),
    ("yes", "boolean", "true", True),
)


def _deletes(entries: Sequence[tuple[str, str, str, Json]], **header: str) -> dict[str, Any]:
    """A delete block."""
    shown = [{"key": key, "partition": "", "ordering": {"type": kind, "value": value}} for key, kind, _, value in entries]
    return {
        "type": "delete",
        "header": {"INSTANT_TIME": INSTANT, "SCHEMA": schema_text(SMALL), **header},
        "given": [entry[:3] for entry in entries],
        "shows": {"content_version": 3, "deletes": shown},
    }


ROLLBACK = {
    "type": "command",
    "header": {"INSTANT_TIME": INSTANT, "TARGET_INSTANT_TIME": TARGET, "COMMAND_BLOCK_TYPE": "0"},
    "given": (),
}


def _placed(block: Mapping[str, Any], places: Sequence[str], bitmap: str) -> dict[str, Any]:
    """The block with row numbers in the base file."""
    header = {"RECORD_POSITIONS": bitmap, "BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS": BASE_INSTANT}
    shows = {**block["shows"], "positions": list(places)}
    return {**block, "positions": list(places), "header": block["header"] | header, "shows": shows}


#: The bitmaps of {0, 2, 5} and {1, 70000}, taken from files of Apache Hudi.
FEW, FAR = "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAIAEAAAAAAAAgAFAA==", "AQAAAAAAAAAAAAAAOjAAAAIAAAAAAAAAAQAAABgAAAAaAAAAAQBwEQ=="
PARTIAL = record_schema("row", ("n", nullable("long")))


def _log_files(version: str) -> Iterator[HudiFile]:
    """One file for each type of block, with its headers."""
    partial = [{"n": 7} | meta_columns("a")]
    blocks: dict[str, tuple[str, tuple[str, ...], tuple[Mapping[str, Any], ...]]] = {
        "avro": ("An Avro block with rows of all types is read.", ("BLK-018", "BLK-021", "BLK-022"), (_typed("avro"),)),
        "parquet": ("A Parquet block with rows of all types is read.", ("BLK-027", "BLK-028"), (_typed("parquet"),)),
        "hfile": ("An HFile block with rows in the order of their keys is read.", ("BLK-023", "BLK-024"), (_in_hfile(),)),
        "delete": ("Deletes with an ordering value of each type are read.", ("BLK-006", "BLK-009"), (_deletes(ORDERINGS),)),
        "command": ("A rollback command is read.", ("BLK-001", "BLK-002"), (ROLLBACK,)),
        "partial": (
            "A partial row with the partial flag is read.",
            ("LF-018", "BLK-022"),
            (_data("avro", PARTIAL, partial, [row | {"n": "7"} for row in partial], IS_PARTIAL="true"),),
        ),
        "compacted-times": (
            "The header with the instants that a log compaction merged is read.",
            ("LF-018", "BLK-022"),
            (_small("a", "b", COMPACTED_BLOCK_TIMES=f"{TARGET},{BASE_INSTANT}"),),
        ),
        "positions": (
            "Positions of rows and of deletes in the base file are read.",
            ("LF-018", "BLK-022"),
            (_placed(_small("a", "b", "c"), ("0", "2", "5"), FEW), _placed(_deletes(ORDERINGS[:2]), ("1", "70000"), FAR)),
        ),
        "several-blocks": (
            "Blocks of four types in one file are shown in the order in which they were appended.",
            ("LF-008", "LF-010"),
            (_small("a", "b"), _deletes(ORDERINGS[:1]), ROLLBACK, _data("parquet", SMALL, small_rows("c"), small_shown("c"))),
        ),
    }
    for kind, (says, requirements, content) in blocks.items():
        if version != "1.0.2" and kind not in DIFFERENT:
            continue
        yield HudiFile(
            area="log",
            kind=f"file.{kind}",
            version=version,
            says=says,
            requirements=requirements,
            needs=("inspect.log-file", "inspect.log-content"),
            if_it_fails="Every reader must read files of Apache Hudi: compare with a handmade block of the same type.",
            blocks=content,
        )
    if version == "1.0.2":
        yield _change_capture(version)


def _typed(kind: str) -> dict[str, Any]:
    return _data(kind, TYPED, typed_rows(), typed_shown())


def _in_hfile() -> dict[str, Any]:
    """Rows whose record key is `key`, the field that Apache Hudi's HFile readers return."""
    avro = record_schema("row", ("key", "string"), ("n", nullable("long")))
    rows = [meta_columns(key, n) | {"key": key, "n": n} for n, key in enumerate(("a", "b", "é"))]
    return _data("hfile", avro, rows, [row | {"n": str(row["n"])} for row in rows])


def _change_capture(version: str) -> HudiFile:
    return HudiFile(
        area="log",
        kind="file.change-capture",
        version=version,
        says="A change-capture file with an insert, an update and a delete, with both images, is read.",
        requirements=("BLK-018", "BLK-022"),
        needs=("inspect.log-file", "inspect.log-content"),
        if_it_fails="A change-capture block is an Avro block with another type; its schema is in its header.",
        file=f"{LOG_FILE}.cdc",
        blocks=(_data("cdc", change_schema(), changes(), changes_shown()),),
    )


MANY = tuple(f"key-{n:02}" for n in range(25))
ABSENT = ("key", "key-25", "é")
#: A SIMPLE filter for 10 keys at 1 %, and a dynamic filter with rows of the same size.
SHAPE = {"hashes": 7, "bits": "96"}


def _base_files(version: str) -> Iterator[HudiFile]:
    """Base files with footer keys and a bloom filter: Parquet with each type of filter, ORC, and HFile."""
    for word, kind, keys in (("simple", "SIMPLE", MANY[:5]), ("dynamic", "DYNAMIC_V0", MANY)):
        yield _columns(version, "parquet", f"parquet.bloom-{word}", kind, keys)
    if version == "1.0.2":
        yield _columns(version, "orc", "orc.bloom-dynamic", "DYNAMIC_V0", MANY)
    yield _hfile(version)


def _columns(version: str, extension: str, kind: str, filter_type: str, keys: Sequence[str]) -> HudiFile:
    """The columns with the meta columns that the writer adds: file name and sequence number, which begins at 1 in ORC."""
    file, first = f"{BASE_FILE}.{extension}", int(extension == "orc")
    rows = [dict.fromkeys(META) | {"id": key, "n": n} for n, key in enumerate(keys)]
    shown = [meta_columns(key, n + first, file) | {"id": key, "n": str(n)} for n, key in enumerate(keys)]
    footer = {"hoodie_min_record_key": keys[0], "hoodie_max_record_key": keys[-1]}
    if filter_type != "SIMPLE":  # the writers store the type only of dynamic filters
        footer["hoodie_bloom_filter_type_code"] = filter_type
    return HudiFile(
        area="base",
        kind=kind,
        version=version,
        says=f"Rows, smallest and largest key, and a {filter_type} bloom filter with every key are read.",
        requirements=("BF-001", "BF-002"),
        needs=("inspect.base-file", "inspect.bloom-filter"),
        if_it_fails="A key that is in the file and not in the filter is missed by every writer that uses the filter.",
        file=file,
        schema=SMALL,
        rows=rows,
        options={"hoodie.bloom.index.filter.type": filter_type},
        keys=list(keys),
        shows={
            "format": extension,
            "rows": shown,
            "footer": footer,
            "bloom": {"type": filter_type, **SHAPE, "may_hold": [True] * len(keys)},
        },
    )


def _hfile(version: str) -> HudiFile:
    """The values are records with an empty key, because the key is stored in the entry."""
    avro = {"type": "record", "name": "record", "fields": [{"name": "key", "type": "string"}, {"name": "n", "type": "long"}]}
    rows = [{"key": key, "n": n} for n, key in enumerate(MANY)]
    values = encode_rows(avro, [row | {"key": ""} for row in rows])
    entries = [{"key": key, "value": value.hex()} for key, value in zip(MANY, values, strict=True)]
    return HudiFile(
        area="hfile",
        kind="base-file",
        version=version,
        says="Entries by key with a bloom filter in a meta block, compressed; some are looked up by key, others by prefix.",
        requirements=("BF-002", "BLK-024"),
        needs=("inspect.hfile", "inspect.bloom-filter"),
        if_it_fails="Releases differ in the bytes around the entries: checksums, index keys, file info.",
        file=f"{BASE_FILE}.hfile",
        schema=avro,
        rows=rows,
        with_meta=False,
        options={"hoodie.bloom.index.filter.type": "DYNAMIC_V0", "hoodie.populate.meta.fields": "false"},
        keys=["key-03", "key-07", *ABSENT],
        prefix="key-1",
        shows={
            "format": "hfile",
            "compression": "gz",
            "levels": 1,
            "entries": entries,
            "found": [e for e in entries if e["key"] in ("key-03", "key-07") or e["key"].startswith("key-1")],
        },
    )
