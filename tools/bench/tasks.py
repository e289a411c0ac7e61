"""The tasks of the benchmark of tables, with the kind of table and the goals of each task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tools.bench import tables

from hudi_reference.schema.avro import field_names

ALL_COLUMNS = field_names(tables.SCHEMA)
Operation = Literal["read", "read-optimized", "upsert", "compact"]


@dataclass(frozen=True)
class Task:
    """One task. `kind` is one of `tables.KINDS`; `goals` are upper limits of the ratio of CPU seconds to those of each engine.

    `options` are settings of a writer by their Hudi names; `peers` are the first parts of the names of the engines that run it.
    """

    title: str
    kind: str
    do: Operation
    goals: Mapping[str, float] = field(default_factory=dict)
    columns: Sequence[str] = ALL_COLUMNS
    options: Mapping[str, str] = field(default_factory=dict)
    peers: tuple[str, ...] = ("arrow", "hudi-rs", "apache-hudi")

    @property
    def writes(self) -> bool:
        """Whether the task changes its table."""
        return self.do in ("upsert", "compact")


def _reads(kind: str) -> Iterator[Task]:
    """Queries of all columns and of two columns, and on merge-on-read also the read-optimized query."""
    if kind not in tables.MERGE_ON_READ:
        yield Task(f"snapshot {kind}", kind, "read", {"arrow": 1.1})
        yield Task(f"two columns {kind}", kind, "read", columns=("id", "seats"))
        return
    yield Task(f"snapshot {kind}", kind, "read", {"hudi-rs": 0.5, "apache-hudi@1.0.2": 0.25, "arrow": 2.0})
    yield Task(f"two columns {kind}", kind, "read", {"hudi-rs": 0.25}, columns=("id", "seats"))
    yield Task(f"read-optimized {kind}", kind, "read-optimized", {"arrow": 1.1}, peers=("arrow",))


def _write(title: str, kind: str, do: Operation, most: float, **options: str) -> Task:
    """A write, compared with Apache Hudi with the same settings."""
    named = {f"hoodie.{key.replace('_', '.')}": value for key, value in options.items()}
    return Task(title, kind, do, {"apache-hudi@1.0.2": most}, options=named, peers=("apache-hudi",))


_ZSTD = {"parquet_compression_codec": "zstd"}
_AVRO, _PARQUET = "merge-on-read event-time avro", "merge-on-read event-time parquet"

READS = tuple(task for kind in tables.KINDS for task in _reads(kind))
#: Upserts of 10 % of the rows, and the compaction of three rounds of upserts, each a complete commit.
WRITES = (
    _write("upsert copy-on-write zstd", "copy-on-write", "upsert", 0.15, **_ZSTD),
    _write("upsert copy-on-write gzip", "copy-on-write", "upsert", 0.4, parquet_compression_codec="gzip"),
    _write("append Avro blocks", _AVRO, "upsert", 0.4, logfile_data_block_format="avro"),
    _write("append Parquet blocks", _PARQUET, "upsert", 0.12, logfile_data_block_format="parquet", **_ZSTD),
    _write("compaction zstd", _AVRO, "compact", 0.12, **_ZSTD),
)
