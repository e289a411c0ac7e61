"""The properties of drawn tables: how they merge, their keys and partitions, columns, indexes, files and services."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

PACKAGE = "org.apache.hudi.common.model."
UNAVAILABLE = "__debezium_unavailable_value"

#: Types of ordering fields: four increasing values of each.
RANKS: Mapping[str, tuple[Any, ...]] = {
    "long": (1, 5, 9, 10),
    "int": (1, 5, 9, 10),
    "double": (-2.5, 0.5, 9.0, 10.0),
    "float": (-2.5, 0.5, 9.0, 10.0),
    "string": ("B", "a", "z9", "\U0001f600"),
    "date": tuple(date(2026, 1, day) for day in (1, 2, 9, 10)),
    "decimal(10,2)": tuple(Decimal(text) for text in ("-1.00", "0.50", "9.00", "10.00")),
    "timestamp-micros": tuple(datetime(2026, 1, 1, second, tzinfo=UTC) for second in (1, 2, 9, 10)),
}
_LSN, _FILE, _POSITION, _CHANGE = "_event_lsn", "_event_bin_file", "_event_pos", "_change_operation_type"


@dataclass(frozen=True)
class Merging:
    """How a table merges: its ordering fields with their types, and what the model has to know of its mode.

    `options` are given to the first writer alone, which creates the table; `lasting` are given to each.
    """

    ordering: Mapping[str, str] = field(default_factory=dict)
    mode: Any = None
    partial: str | None = None
    marker: tuple[str, str] | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    lasting: Mapping[str, str] = field(default_factory=dict)

    @property
    def compared(self) -> tuple[str, ...]:
        """The ordering fields that decide."""
        return tuple(self.ordering) if self.effective_mode == "EVENT_TIME_ORDERING" else ()

    @property
    def effective_mode(self) -> str:
        """The merge mode of the table."""
        return str(self.mode or ("EVENT_TIME_ORDERING" if self.ordering else "COMMIT_TIME_ORDERING"))


def _of_class(name: str, mode: str, ordering: Mapping[str, str] | None = None, **more: Any) -> Merging:
    options = {"hoodie.datasource.write.payload.class": PACKAGE + name, **more.pop("options", {})}
    return Merging({"ts": "long"} if ordering is None else ordering, mode, options=options, **more)


_EVENT, _COMMIT = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"
_MARKER = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "D"}
MERGINGS: Mapping[str, Merging] = {
    **{f"event-{kind.partition('(')[0]}": Merging({"ts": kind}) for kind in RANKS},
    "event-given": Merging({"ts": "long"}, _EVENT),
    "commit": Merging(),
    "commit-given": Merging({"ts": "long"}, _COMMIT),
    "two-fields": Merging({"ts": "long", "seq": "int"}),
    "three-fields": Merging({"seq": "int", "day": "date", "ts": "string"}),
    "two-texts": Merging({"ts": "string", "seq": "decimal(10,2)"}),
    "two-times": Merging({"day": "date", "ts": "timestamp-micros"}),
    "marker": Merging({"ts": "long"}, marker=("op", "D"), options=_MARKER),
    "marker-of-two-fields": Merging({"ts": "long", "seq": "int"}, marker=("op", "D"), options=_MARKER),
    "marker-commit": Merging({}, marker=("op", "D"), options=_MARKER),
    "class-default-marker": _of_class("DefaultHoodieRecordPayload", _EVENT, marker=("op", "D"), options=_MARKER),
    "class-default": _of_class("DefaultHoodieRecordPayload", _EVENT),
    "class-event-time": _of_class("EventTimeAvroPayload", _EVENT),
    "class-overwrite": _of_class("OverwriteWithLatestAvroPayload", _COMMIT),
    "class-non-defaults": _of_class("OverwriteNonDefaultsWithLatestAvroPayload", _COMMIT, partial="IGNORE_DEFAULTS"),
    "class-partial": _of_class("PartialUpdateAvroPayload", _EVENT, partial="IGNORE_DEFAULTS"),
    "class-partial-two-fields": _of_class(
        "PartialUpdateAvroPayload", _EVENT, {"ts": "long", "seq": "int"}, partial="IGNORE_DEFAULTS"
    ),
    "class-postgres": _of_class(
        "debezium.PostgresDebeziumAvroPayload", _EVENT, {_LSN: "long"}, partial="FILL_UNAVAILABLE", marker=(_CHANGE, "d")
    ),
    "class-mysql": _of_class(
        "debezium.MySqlDebeziumAvroPayload", _EVENT, {_FILE: "string", _POSITION: "long"}, marker=(_CHANGE, "d")
    ),
    "class-dms": _of_class("AWSDmsAvroPayload", _COMMIT, marker=("Op", "D")),
    "class-avro": _of_class("HoodieAvroPayload", _COMMIT),
}  # fmt: skip


@dataclass(frozen=True)
class Placing:
    """Record key and partition of a table: the key columns, the partition columns with their types, and writer options."""

    key: tuple[str, ...] = ("id",)
    partition: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    values: tuple[tuple[Any, ...], ...] = ((),)
    options: Mapping[str, str] = field(default_factory=dict)


_TIME = "hoodie.keygen.timebased."
_EPOCH = (1767225600000, 1769904000000, 1782950400000)
PLACINGS: Mapping[str, Placing] = {
    "none": Placing(),
    "text": Placing(partition=("p",), types={"p": "string"}, values=(("x",), ("y-1",), ("z_2",))),
    "hive": Placing(partition=("p",), types={"p": "string"}, values=(("x",), ("y z",), ("ü",)),
                    options={"hoodie.datasource.write.hive_style_partitioning": "true"}),
    "encoded": Placing(partition=("p",), types={"p": "string"}, values=(("a/b",), ("c:d%e",), ("f=g",)),
                       options={"hoodie.datasource.write.partitionpath.urlencode": "true"}),
    "encoded-hive": Placing(partition=("p",), types={"p": "string"}, values=(("a/b",), ("c d?e",), ("f=g",)),
                            options={"hoodie.datasource.write.partitionpath.urlencode": "true",
                                     "hoodie.datasource.write.hive_style_partitioning": "true"}),
    "null": Placing(partition=("p",), types={"p": "string"}, values=(("x",), (None,), ("y",))),
    "int": Placing(partition=("p",), types={"p": "int"}, values=((1,), (20,), (3,))),
    "long-hive": Placing(partition=("p",), types={"p": "long"}, values=((1,), (20,), (-3,)),
                         options={"hoodie.datasource.write.hive_style_partitioning": "true"}),
    "date": Placing(partition=("p",), types={"p": "date"}, values=((date(2026, 1, 1),), (date(2026, 12, 31),))),
    "date-hive": Placing(partition=("p",), types={"p": "date"}, values=((date(2026, 1, 1),), (date(1969, 12, 31),)),
                         options={"hoodie.datasource.write.hive_style_partitioning": "true"}),
    "boolean": Placing(partition=("p",), types={"p": "boolean"}, values=((True,), (False,))),
    "slash-date": Placing(partition=("p",), types={"p": "date"}, values=((date(2026, 1, 1),), (date(2026, 12, 31),)),
                          options={"hoodie.datasource.write.slash.separated.date.partitioning": "true"}),
    "two-levels": Placing(partition=("p", "q"), types={"p": "string", "q": "int"}, values=(("x", 1), ("x", 2), ("y", 1))),
    "two-levels-hive": Placing(partition=("p", "q"), types={"p": "string", "q": "date"},
                               values=(("x", date(2026, 1, 2)), ("y", date(2026, 1, 2))),
                               options={"hoodie.datasource.write.hive_style_partitioning": "true"}),
    "two-keys": Placing(key=("id", "k2"), partition=("p",), types={"k2": "int", "p": "string"},
                        values=((1, "x"), (2, "x"), (1, "y"))),
    "two-keys-no-partition": Placing(key=("id", "k2"), types={"k2": "int"}, values=((1,), (2,))),
    "complex-one-key": Placing(
        partition=("p",), types={"p": "string"}, values=(("x",), ("y",)),
        options={"hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator"}),
    "by-month": Placing(
        partition=("p",), types={"p": "long"}, values=tuple((epoch,) for epoch in _EPOCH),
        options={"hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
                 f"{_TIME}timestamp.type": "EPOCHMILLISECONDS", f"{_TIME}output.dateformat": "yyyy/MM"}),
    "by-text-date": Placing(
        partition=("p",), types={"p": "string"}, values=(("2026-01-05 10:00:00",), ("2026-02-07 11:30:00",)),
        options={"hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
                 f"{_TIME}timestamp.type": "DATE_STRING", f"{_TIME}input.dateformat": "yyyy-MM-dd HH:mm:ss",
                 f"{_TIME}output.dateformat": "yyyyMMdd"}),
    "custom": Placing(
        partition=("p:SIMPLE", "at:TIMESTAMP"), types={"p": "string", "at": "long"},
        values=(("x", _EPOCH[0]), ("y", _EPOCH[1]), ("x", _EPOCH[2])),
        options={"hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.CustomKeyGenerator",
                 f"{_TIME}timestamp.type": "EPOCHMILLISECONDS", f"{_TIME}output.dateformat": "yyyy-MM-dd"}),
}  # fmt: skip

#: Columns beside `a`, `b` and `n`, by a name: type and values.
DAYS = (date(1969, 12, 31), date(2026, 7, 3), None, date(9999, 12, 31))
TIMES = (datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), datetime(2026, 7, 3, 1, 2, 3, 4, tzinfo=UTC), None)
EXTRAS: Mapping[str, tuple[Any, tuple[Any, ...]]] = {
    "c_long": ("long", (2**62, -5, None)),
    "c_float": ("float", (1.5, -0.0, float("nan"), None)),
    "c_double": ("double", (1e300, -0.0, float("inf"), None)),
    "c_flag": ("boolean", (True, False, None)),
    "c_bytes": ("bytes", (b"", b"\x00\xff", None)),
    "c_date": ("date", DAYS),
    "c_time": ("timestamp-micros", TIMES),
    "c_local": ("local-timestamp-micros", tuple(one and one.replace(tzinfo=None) for one in TIMES)),
    "c_small": ("decimal(4,1)", (Decimal("-12.3"), Decimal("999.9"), None)),
    "c_large": ("decimal(30,5)", (Decimal("-1234567890123456789012345.12345"), Decimal("0.00001"), None)),
    "c_struct": ({"type": "record", "fields": (("x", "int"), ("y", {"type": "array", "items": "string"}))},
                 ({"x": 1, "y": ["a", "b"]}, {"x": None, "y": []}, None)),
    "c_array": ({"type": "array", "items": "long"}, ([1, 2], [], None)),
    "c_map": ({"type": "map", "values": "double"}, ({"k": 1.5}, {}, None)),
    "c_records": ({"type": "array", "items": {"type": "record", "fields": (("x", "string"), ("d", "date"))}},
                  ([{"x": "q", "d": date(2026, 1, 1)}, {"x": None, "d": None}], None)),
}  # fmt: skip

_METADATA = "hoodie.metadata."
INDEXES: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "no-metadata": {f"{_METADATA}enable": "false"},
    "bloom-filters": {f"{_METADATA}index.bloom.filter.enable": "true"},
    "record-index": {f"{_METADATA}global.record.level.index.enable": "true", "hoodie.index.type": "GLOBAL_RECORD_LEVEL_INDEX"},
    "partitioned-record-index": {f"{_METADATA}record.level.index.enable": "true", "hoodie.index.type": "RECORD_LEVEL_INDEX",
                                 f"{_METADATA}record.level.index.min.filegroup.count": "2"},
    "buckets": {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"},
    "consistent-buckets": {"hoodie.index.type": "BUCKET", "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
                           "hoodie.bucket.index.num.buckets": "2"},
    "simple": {"hoodie.index.type": "SIMPLE"},
    "global-simple": {"hoodie.index.type": "GLOBAL_SIMPLE"},
    "global-bloom": {"hoodie.index.type": "GLOBAL_BLOOM"},
}  # fmt: skip

FORMATS: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "small-groups": {"hoodie.parquet.small.file.limit": "0"},
    "parquet-blocks": {"hoodie.logfile.data.block.format": "parquet"},
    "orc": {"hoodie.table.base.file.format": "ORC", "hoodie.base.file.format": "ORC"},
    "positions": {"hoodie.write.record.positions": "true", "hoodie.parquet.small.file.limit": "0"},
    "gzip": {"hoodie.parquet.compression.codec": "gzip"},
    "zstd": {"hoodie.parquet.compression.codec": "zstd"},
    "timestamps-in-millis": {"hoodie.parquet.outputtimestamptype": "TIMESTAMP_MILLIS"},
}

SERVICES: Mapping[str, Mapping[str, str]] = {
    "none": {},
    "inline-compaction": {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "2"},
    "planned-compaction": {"hoodie.compact.schedule.inline": "true", "hoodie.compact.inline.max.delta.commits": "2"},
    "inline-clustering": {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "2"},
    "inline-cleaning": {"hoodie.clean.automatic": "true", "hoodie.clean.commits.retained": "2"},
    "archiving": {"hoodie.archive.automatic": "true", "hoodie.clean.automatic": "true", "hoodie.clean.commits.retained": "1",
                  "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"},
}  # fmt: skip

CAPTURES: Mapping[str, Mapping[str, str]] = {
    "none": {},
    **{
        mode: {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode.replace("-", "_").upper()}
        for mode in ("op-key-only", "data-before", "data-before-after")
    },
}
