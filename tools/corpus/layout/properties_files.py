"""Properties files: those of deployed writers, in every form that Java accepts, truncated, and edited.

The expected answer is the list of keys and values from which the file was made.
"""

import zlib
from collections.abc import Iterator, Mapping

from tools.corpus.case import FileCase, Variant, distinct_variants

NEEDS = ["inspect.properties"]
NAME = "hoodie.properties"
CURE = "Read the whole syntax of java.util.Properties; the CRC-32 covers only '<database>.<table>'."
_CHECKSUM = "hoodie.table.checksum"

#: The properties of a table in the order of the file; the checksum is inserted between the fourth and the fifth.
ENTRIES = {
    "hoodie.table.type": "MERGE_ON_READ",
    "hoodie.table.name": "trips",
    "hoodie.table.version": "8",
    "hoodie.database.name": "default",
    "hoodie.timeline.layout.version": "2",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "city,day",
    "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING",
}


def table_checksum(names: str) -> str:
    """The checksum of `<database>.<table>`."""
    return str(zlib.crc32(names.encode()))


def with_checksum() -> dict[str, str]:
    """The entries with their checksum."""
    lines = list(ENTRIES.items())
    return dict([*lines[:4], (_CHECKSUM, table_checksum("default.trips")), *lines[4:]])


def format_entries(entries: Mapping[str, str]) -> str:
    """A file whose entries need no escapes."""
    comments = "#Properties saved on 2026-01-01T00:00:00Z\n#Thu Jan 01 00:00:00 UTC 2026\n"
    return comments + "".join(f"{key}={value}\n" for key, value in entries.items())


def inspection(entries: Mapping[str, str], checksum: str) -> dict[str, object]:
    """The expected inspection of a file."""
    return {"format": "properties", "entries": dict(entries), "checksum": checksum}


def cases() -> Iterator[FileCase]:
    """Single files, and a family of damaged copies."""
    yield from _deployed()
    yield _file("every-form", ("Every syntax form of Java properties is read: separators, continued lines, escapes, "
                               "comments and repeated keys."),
                EVERY_FORM.encode("latin-1"), inspection(SAID, "valid"), ["PROP-001", "PROP-011"])  # fmt: skip
    yield _file("without-database", "Without a database name, the checksum covers a dot and the table name.",
                format_entries({"hoodie.table.name": "trips", _CHECKSUM: table_checksum(".trips")}).encode(),
                inspection({"hoodie.table.name": "trips", _CHECKSUM: table_checksum(".trips")}, "valid"),
                ["PROP-011"])  # fmt: skip
    yield _file("names-beyond-ascii", "The checksum covers the names in UTF-8, whatever escapes the file uses for them.",
                f"hoodie.table.name=\\u65e5\\ud83d\\udeb2\nhoodie.database.name=\xe9\n{_CHECKSUM}={table_checksum('é.日🚲')}\n".encode("latin-1"),
                inspection({"hoodie.table.name": "日🚲", "hoodie.database.name": "é", _CHECKSUM: table_checksum("é.日🚲")},
                    "valid"),
                ["PROP-011", "PROP-004"])  # fmt: skip
    yield FileCase(
        area="properties", name="damaged", requirements=["PROP-011"], needs=NEEDS, flags=["silent-stale"], errata=["ER-020"],
        says=("A truncated or edited file shows its remaining properties, and a wrong checksum if a name is changed or "
              "missing."),
        if_it_fails=CURE, file=NAME, content=format_entries(with_checksum()).encode(), verdict="must-recover",
        variants=distinct_variants([*_cuts(), *_edits()], format_entries(with_checksum()).encode()),
    )  # fmt: skip
    yield from _refused()


def _file(name: str, says: str, content: bytes, inspect: dict[str, object], rules: list[str]) -> FileCase:
    return FileCase(area="properties", name=name, requirements=rules, needs=NEEDS, flags=["silent-stale"], says=says,
                    if_it_fails=CURE, file=NAME,
                    content=content, verdict="valid", inspect=inspect)  # fmt: skip


EVERY_FORM = (
    "# a comment with \\u12 in it\n  ! another = one\n\n \t\f\n"
    f"{_CHECKSUM} = {table_checksum('default.trips')}\r\n"
    "hoodie.table.name:tr\\\n      ips\r"
    "hoodie.database.name default\n"
    "hoodie.table.\\\n  type\t=\f COPY_ON_WRITE\n"
    "twice=1\ntwice=2\n"
    "a\\=b\\:c\\ d=\\t\\n\\r\\f\\\\\\q\n"
    "json={\"type\"\\:\"record\"}\n"
    "umlaut=\xe4\\u00e4\n"
    "twins=\\ud83d\\udeb2\n"
    "blanks=  left  \nnothing\nequals==:= \n"
    "\\u0068idden=h\\u0069dden\n"
    "# the end \\\n"
    "odd=\\x41\\U0042\n"
    "last=without an end"
)  # fmt: skip
SAID = {
    _CHECKSUM: table_checksum("default.trips"),
    "hoodie.table.name": "trips",
    "hoodie.database.name": "default",
    "hoodie.table.type": "COPY_ON_WRITE",
    "twice": "2",
    "a=b:c d": "\t\n\r\f\\q",
    "json": '{"type":"record"}',
    "umlaut": "ää",
    "twins": "🚲",
    "blanks": "left  ",
    "nothing": "",
    "equals": "=:= ",
    "hidden": "hidden",
    "odd": "x41U0042",
    "last": "without an end",
}


def _deployed() -> Iterator[FileCase]:
    """Files that Apache Hudi wrote, which are not changed."""
    common = {
        "hoodie.table.type": "MERGE_ON_READ", "hoodie.timeline.layout.version": "2",
        "hoodie.timeline.history.path": "history", "hoodie.datasource.write.drop.partition.columns": "false",
        "hoodie.record.merge.strategy.id": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5",
        "hoodie.datasource.write.hive_style_partitioning": "false",
        "hoodie.datasource.write.partitionpath.urlencode": "false", "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
        "hoodie.table.version": "8", "hoodie.table.initial.version": "8", "hoodie.archivelog.folder": "history",
        "hoodie.compaction.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
        "hoodie.table.cdc.enabled": "false", "hoodie.table.multiple.base.file.formats.enable": "false",
        "hoodie.table.timeline.timezone": "LOCAL", "hoodie.table.recordkey.fields": "id", "hoodie.timeline.path": "timeline",
        "hoodie.partition.metafile.use.base.format": "false", "hoodie.populate.meta.fields": "true",
        "hoodie.table.base.file.format": "PARQUET",
    }  # fmt: skip
    with_metadata_table = {
        "hoodie.table.keygenerator.type": "SIMPLE", "hoodie.table.precombine.field": "ts",
        _CHECKSUM: table_checksum(".with_metadata_table"),
        "hoodie.table.metadata.partitions.inflight": "", "hoodie.table.index.defs.path": ".hoodie/.index_defs/index.json",
        "hoodie.table.metadata.partitions": "column_stats,files,partition_stats", "hoodie.table.partition.fields": "p",
        "hoodie.table.name": "with_metadata_table",
    }  # fmt: skip
    of_1_2 = {
        "hoodie.table.keygenerator.type": "NON_PARTITION", _CHECKSUM: table_checksum(".ordering_property_of_1_2_two_logs_mor"),
        "hoodie.table.partition_extractor_class": "org.apache.hudi.hive.NonPartitionedExtractor",
        "hoodie.table.format": "native", "hoodie.table.partition.fields": "", "hoodie.table.ordering.fields": "ts",
        "hoodie.table.name": "ordering_property_of_1_2_two_logs_mor",
    }  # fmt: skip
    yield _of_hudi("1.0.2", "with a metadata table", common | with_metadata_table, ["PROP-011", "PROP-014"])
    yield _of_hudi("1.2.0", "with the newer name of the ordering field", common | of_1_2, ["PROP-011", "PROP-009"])


def _of_hudi(version: str, which: str, entries: dict[str, str], rules: list[str]) -> FileCase:
    return FileCase(
        area="properties", name=f"of-hudi-{version.replace('.', '-')}", requirements=rules, needs=NEEDS, file=NAME,
        content=None,
        says=f"The properties that Apache Hudi {version} stores for a table {which} are read.",
        if_it_fails=CURE, verdict="valid",
        producer={"engine": "apache-hudi", "version": version}, flags=["silent-stale"],
        inspect=inspection(entries, "valid"), derived_by=["hand"],
    )  # fmt: skip


def _cuts() -> Iterator[Variant]:
    """The file cut at every byte: whole lines are entries, the rest of the last line too; with the state of the checksum."""
    lines, offset = format_entries(with_checksum()).splitlines(keepends=True), 0
    whole: dict[str, str] = {}
    for line in lines:
        for kept in range(len(line)):
            found = dict(whole)
            if kept and not line.startswith("#"):
                key, _, value = line[:kept].rstrip("\n").partition("=")
                found[key] = value
            yield Variant(name=f"cut-at-{offset + kept}", cut=offset + kept, inspect=inspection(found, _state(found)))
        offset += len(line)
        if not line.startswith("#"):
            key, _, value = line.rstrip("\n").partition("=")
            whole[key] = value


def _state(entries: Mapping[str, str]) -> str:
    if _CHECKSUM not in entries:
        return "absent"
    names = entries.get("hoodie.database.name", ""), entries.get("hoodie.table.name", "")
    return "valid" if entries[_CHECKSUM] == table_checksum(".".join(names)) else "wrong"


def _edits() -> Iterator[Variant]:
    """Values that were changed in place: the checksum covers only the two names."""
    text = format_entries(with_checksum())
    for key, value, other in (
        ("hoodie.table.name", "trips", "tripz"),
        ("hoodie.database.name", "default", "DEFAULT"),
        ("hoodie.table.type", "MERGE_ON_READ", "COPY_ON_WRITE"),
        ("hoodie.table.version", "8", "9"),
        (_CHECKSUM, table_checksum("default.trips"), "0" + table_checksum("default.trips")),
        (_CHECKSUM, table_checksum("default.trips"), "-1"),
        (_CHECKSUM, table_checksum("default.trips"), ""),
    ):
        at = text.index(f"{key}={value}") + len(key) + 1
        found = with_checksum() | {key: other}
        name = f"{key.rpartition('.')[2]}-is-{other or 'empty'}"
        yield Variant(name=name, patches=[(at, len(value), other.encode())], inspect=inspection(found, _state(found)))


def _refused() -> Iterator[FileCase]:
    """An escape without digits: Java refuses the whole file."""
    for name, says, line in (
        ("escape-of-two-digits", "only two digits follow", "broken=\\u12 \n"),
        ("escape-of-letters", "other letters follow", "broken=\\uwxyz\n"),
        ("escape-in-a-key", "the escape is in a key", "bro\\u00gken=1\n"),
        ("escape-at-the-end", "the file ends", "broken=\\u"),
    ):
        yield FileCase(
            area="properties", name=f"broken.{name}", requirements=["PROP-011"], needs=NEEDS, file=NAME, verdict="must-refuse",
            flags=["wrong-rows"],
            says=f"A \\u escape without four hexadecimal digits is refused: {says}.",
            if_it_fails="The reader drops the escape and with it part of a value.",
            error="an escape without its four digits",
            content=(format_entries(with_checksum()) + line).encode(),
        )  # fmt: skip
