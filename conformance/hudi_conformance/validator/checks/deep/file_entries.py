"""Entries of files in the metadata table against the rows of the files: statistics and bloom filters.

Bounds and filters have to hold for each value of the file. Wider bounds only cost time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_conformance.validator.checks.deep.bounds import Deviation, counts, deviation
from hudi_conformance.validator.checks.deep.expressions import column_of, deviation_of_function, evaluated
from hudi_conformance.validator.checks.deep.files.base_files import BaseFile, described, where
from hudi_conformance.validator.checks.deep.files.footer_statistics import sizes_of_columns
from hudi_conformance.validator.checks.finding import Finding, Severity, Tally
from hudi_conformance.validator.checks.remedies import rebuild
from hudi_conformance.validator.checks.time_zones import ZONES
from hudi_conformance.validator.stored.opened import Opened
from hudi_reference.caching import cached_property
from hudi_reference.files.bloom.bloom import FilterType, decode_filter
from hudi_reference.layout.names import BASE_EXTENSIONS, split_path
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.metadata.definitions import IndexDefinition
from hudi_reference.metadata.indexes.expression_index import filter_texts
from hudi_reference.metadata.keys import (
    bloom_filters_key,
    column_stats_key,
    expression_partition_stats_key,
    partition_stats_key,
)
from hudi_reference.metadata.lookup.index_snapshot import IndexSnapshot
from hudi_reference.metadata.partitions import BuiltIn, Kind
from hudi_reference.metadata.record_merge import widen_statistics
from hudi_reference.metadata.records import BloomFilter, ColumnStats, Statistics
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.schema.fields import column_at

RULES = ("MDT-010", "MDT-014", "MDT-001", "IDX-004", "IDX-005", "IDX-006", "IDX-035")
#: The ends of names of base files.
BASE_ENDINGS = tuple(f".{extension}" for extension in BASE_EXTENSIONS)
_SKIPS = "Queries that skip data by these statistics leave rows out."


@dataclass(frozen=True)
class Place:
    """A file and the index partition whose entry is compared with it."""

    index: str
    path: str

    def finding(
        self, rule: str, severity: Severity, meaning: str, expected: str, found: str, key: str | None = None
    ) -> Finding:
        """A finding in the index, about the file."""
        path = f"{METADATA_FOLDER}/{self.index}"
        about = self.path if key is None else f"{self.path}: {key}"
        return Finding(rule, severity, path, meaning, expected, found, rebuild(self.index), about)


def base_file_findings(opened: Opened, base: BaseFile, tally: Tally) -> Iterator[Finding]:
    """The findings in the entries of a base file."""
    if opened.has_indexes:
        entries = FileEntries(opened, base.path)
        yield from entries.findings_of_rows(base.rows, tally)
        yield from entries.findings_of_sizes(tally)
        yield from entries.findings_of_filter(base, tally)
        yield from entries.findings_of_absence(base.rows.schema, base.rows.num_rows, tally)


@dataclass
class LogRows:
    """Compares the rows of the blocks of a log file, as they are read, with the entries of the file."""

    opened: Opened
    path: str
    tally: Tally
    _found: list[Finding] = field(default_factory=list)

    def add(self, rows: pa.Table) -> None:
        """Compare the rows of a block."""
        if self.opened.has_indexes:
            self._found += self._entries.findings_of_rows(rows, self.tally)
            self._found += self._entries.findings_of_absence(rows.schema, rows.num_rows, self.tally)

    @cached_property
    def _entries(self) -> "FileEntries":
        return FileEntries(self.opened, self.path)

    def findings(self) -> Iterator[Finding]:
        """The findings so far, one for each entry."""
        yield from {(one.rule, one.path, one.key): one for one in reversed(self._found)}.values()


@dataclass(frozen=True)
class FileEntries:
    """The entries of a file in the usable partitions of the metadata table."""

    opened: Opened
    path: str

    @property
    def _is_latest(self) -> bool:
        return self.path in self.opened.latest_files

    @cached_property
    def _expressions(self) -> Mapping[str, IndexDefinition]:
        usable = self.opened.indexes.usable if self.opened.indexes else ()
        return {
            name: one for name, one in self.opened.definitions.items() if name in usable and name.startswith(Kind.EXPRESSION)
        }

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        """The columns that have statistics."""
        known = self.opened.definitions.get(BuiltIn.COLUMN_STATS)
        return known.columns if known is not None else tuple(self.opened.reader.schema.names)

    @cached_property
    def _statistics(self) -> Mapping[str, Statistics]:
        """The statistics of the file by column."""
        return self._stored(BuiltIn.COLUMN_STATS, {column_stats_key(one, *split_path(self.path)): one for one in self._columns})

    @cached_property
    def _of_partition(self) -> Mapping[str, Statistics]:
        """The statistics of its partition by column."""
        partition = split_path(self.path)[0]
        return self._stored(BuiltIn.PARTITION_STATS, {partition_stats_key(one, partition): one for one in self._columns})

    def _stored(self, index: str, keys: Mapping[str, str]) -> dict[str, Statistics]:
        """The statistics with these keys, by the values of the mapping."""
        snapshot = self.opened.indexes
        if snapshot is None or index not in snapshot.usable:
            return {}
        # From every file group: a clean of 1.0.2 adds file groups, so that the hash of a key does not tell its group any more.
        found = ((keys[key], one.payload) for key, one in snapshot.with_prefix(index, keys).items() if key in keys)
        return {name: one for name, one in found if isinstance(one, Statistics) and not one.is_deleted}

    def findings_of_rows(self, rows: pa.Table, tally: Tally) -> Iterator[Finding]:
        """The statistics that do not hold for rows of the file."""
        values = {name: one for name in self._columns if (one := self._values(rows, name)) is not None}
        for name, one in values.items():
            yield from self._compared(BuiltIn.COLUMN_STATS, self._statistics.get(name), one, name, tally)
            if self._is_latest:
                yield from self._compared(BuiltIn.PARTITION_STATS, self._of_partition.get(name), one, name, tally)
        for index, definition in self._expressions.items():
            if definition.kind == BuiltIn.COLUMN_STATS and (one := column_of(rows, definition.columns[0])) is not None:
                yield from self._findings_of_expression(index, definition, one, tally)

    def _values(self, rows: pa.Table, name: str) -> pa.ChunkedArray | None:
        """The values of a column; nulls, as queries read them, if a base file lacks a column of which it has bounds."""
        entry = self._statistics.get(name)
        if self.path.endswith(BASE_ENDINGS) and entry is not None and entry.least is not None and column_at(rows, name) is None:
            return pa.chunked_array([pa.nulls(len(rows))])
        return column_of(rows, name)

    def _compared(
        self, index: str, entry: Statistics | None, values: pa.ChunkedArray, name: str, tally: Tally
    ) -> Iterator[Finding]:
        if entry is None:
            return
        tally.looked("MDT-010", "MDT-014")
        found = deviation(entry, values)
        if found is not None and found.is_narrow and isinstance(entry, ColumnStats):
            found = self._deviation_of_attempt(entry, values, name)
        if found is None and index == BuiltIn.COLUMN_STATS and self.path.endswith(BASE_ENDINGS):
            found = counts(entry, values)
        if found is not None and found.is_narrow:
            yield Place(index, self.path).finding("MDT-010", "wrong-answers", _SKIPS, found.expected, found.found, name)
        elif found is not None and index == BuiltIn.COLUMN_STATS and self.path.endswith(".parquet"):
            meaning = "Queries read the file more often than necessary."
            yield Place(index, self.path).finding("MDT-014", "cosmetic", meaning, found.expected, found.found, name)

    def _deviation_of_attempt(self, entry: ColumnStats, values: pa.ChunkedArray, name: str) -> Deviation | None:
        """The deviation from the statistics of all log files that the attempt of a write stored for the file group.

        Apache Hudi adds the row that opens a log file to the statistics of the file before it. A query reads the files
        of an attempt together, or leaves them out together.
        """
        together = entry
        for path in self.opened.others_of_attempt(self.path):
            if isinstance(other := FileEntries(self.opened, path)._statistics.get(name), ColumnStats):
                together = widen_statistics(together, replace(other, is_tight=False))
        return deviation(together, values)

    def findings_of_sizes(self, tally: Tally) -> Iterator[Finding]:
        """MDT-014: the sizes in statistics are those of the chunks of the column in a Parquet file."""
        if not self.path.endswith(".parquet") or not self._statistics:
            return
        sizes = sizes_of_columns(self.opened, self.path)
        for name, entry in self._statistics.items():
            found = entry.total_size, entry.total_uncompressed_size
            tally.looked("MDT-014", at=name in sizes)
            if name in sizes and None not in found and found != sizes[name]:
                yield Place(BuiltIn.COLUMN_STATS, self.path).finding(
                    "MDT-014", "cosmetic", "Only statistics of the file are wrong.",
                    "{} stored and {} decoded bytes".format(*sizes[name]), "{} and {}".format(*found), name,
                )  # fmt: skip

    def _findings_of_expression(
        self, index: str, definition: IndexDefinition, column: pa.ChunkedArray, tally: Tally
    ) -> Iterator[Finding]:
        name, (partition, file) = definition.columns[0], split_path(self.path)
        keys = {column_stats_key(name, partition, file): "file", expression_partition_stats_key(name, partition): "partition"}
        entries = self._stored(index, keys)
        for kind, entry in entries.items():
            if kind == "file" or self._is_latest:
                tally.looked("IDX-035")
                found = deviation_of_function(definition, entry, column)
                if found is not None and found.is_narrow:
                    expected = f"{found.expected} for {definition.function}({name})"
                    yield Place(index, self.path).finding(
                        "IDX-035", "wrong-answers", _SKIPS, expected, found.found, f"entry of the {kind}"
                    )

    def findings_of_filter(self, base: BaseFile, tally: Tally) -> Iterator[Finding]:
        """The keys, and the values of expressions, that a bloom filter of the file lacks."""
        key = bloom_filters_key(*split_path(self.path))
        yield from self._other_filter(key, base, tally)
        yield from self._lacking(BuiltIn.BLOOM_FILTERS, key, base.keys.filter(pc.not_equal(base.keys, "")), tally)
        for index, definition in self._expressions.items():
            column = column_of(base.rows, definition.columns[0])
            if definition.kind == BuiltIn.BLOOM_FILTERS and column is not None:
                texts = (
                    filter_texts(values.drop_null())
                    for zone in ZONES
                    if (values := evaluated(definition, column, zone)) is not None
                )
                candidates = (found.filter(pc.not_equal(found, "")) for found in texts)
                findings = (list(self._lacking(index, key, one, tally)) for one in candidates)
                yield from _least(findings)

    def _other_filter(self, key: str, base: BaseFile, tally: Tally) -> Iterator[Finding]:
        """IDX-005 and IDX-006: the filter of a file in the index is that in its footer, of the same type."""
        snapshot, index = self.opened.indexes, BuiltIn.BLOOM_FILTERS
        found = snapshot.get(index, [key]).get(key) if snapshot is not None and index in snapshot.usable else None
        entry = None if found is None else found.payload
        if not isinstance(entry, BloomFilter) or entry.is_deleted or base.footer.filter_text is None:
            return
        tally.looked("IDX-005", "IDX-006")
        if entry.type != (wanted := base.footer.type_code or FilterType.SIMPLE):
            meaning = "Look-ups take the bytes for a filter of another type, and may not find keys of the file."
            yield Place(index, self.path).finding("IDX-005", "wrong-answers", meaning, str(wanted), entry.type)
        if entry.text != base.footer.filter_text:
            meaning = "Look-ups by the index and by the footer may open different files."
            yield Place(index, self.path).finding(
                "IDX-006", "cosmetic", meaning, f"the filter of the footer, {len(base.footer.filter_text)} characters",
                f"another one, {len(entry.text)} characters",
            )  # fmt: skip

    def _lacking(self, index: str, key: str, values: pa.Array, tally: Tally) -> Iterator[Finding]:
        snapshot = self.opened.indexes
        if snapshot is None or index not in snapshot.usable or not len(values):
            return
        entry = snapshot.get(index, [key]).get(key)
        if entry is None or not isinstance(entry.payload, BloomFilter) or entry.payload.is_deleted:
            return
        tally.looked("IDX-004", at=len(values))
        held = decode_filter(entry.payload.type, entry.payload.text, f"{METADATA_FOLDER}/{index}").may_hold(values)
        if rows := where(pc.invert(pa.array(held))):
            meaning = "Look-ups by the filter do not find these values in the file."
            expected = "a filter that holds each value of the file"
            yield Place(index, self.path).finding(
                "IDX-004", "wrong-answers", meaning, expected, f"no {described(values, rows)}", values[rows[0]].as_py()
            )

    def findings_of_absence(self, schema: pa.Schema, rows: int, tally: Tally) -> Iterator[Finding]:
        """Entries that a file of the present state lacks. Writers store statistics of Parquet and log files alone."""
        snapshot = self.opened.indexes
        if snapshot is None or not self._is_latest or not rows:
            return
        tally.looked("MDT-001")
        yield from self._absent_filters(snapshot)
        if self.path.endswith((".orc", ".hfile")):
            return
        if BuiltIn.COLUMN_STATS in snapshot.usable and BuiltIn.COLUMN_STATS in self.opened.definitions:
            lacking = [name for name in self._columns if name not in self._statistics and _has_statistics(schema, name)]
            if lacking:
                severity, meaning = self._meaning_of_absence
                yield Place(BuiltIn.COLUMN_STATS, self.path).finding(
                    "MDT-001", severity, meaning, "an entry for each column of the index",
                    f"none for {', '.join(lacking)}"[:200],
                )  # fmt: skip
        yield from self._absent_statistics(snapshot, schema)

    @property
    def _meaning_of_absence(self) -> tuple[Severity, str]:
        """A file without any entry is read; one with entries of other columns is taken for one with nulls in this one."""
        if self._statistics:
            meaning = "Queries that skip data by these columns take their values for nulls and leave the file out."
            return "wrong-answers", meaning
        return "cosmetic", "Queries read the file, whatever their filters are."

    def _absent_filters(self, snapshot: IndexSnapshot) -> Iterator[Finding]:
        """The bloom filter that a base file lacks: look-ups read the file, or the filter in its footer."""
        name, wanted = BuiltIn.BLOOM_FILTERS, self.path.endswith(BASE_ENDINGS)
        if wanted and name in snapshot.usable:
            key = bloom_filters_key(*split_path(self.path))
            entry = snapshot.get(name, [key]).get(key)
            if entry is None or (isinstance(entry.payload, BloomFilter) and entry.payload.is_deleted):
                yield Place(name, self.path).finding(
                    "MDT-001", "cosmetic", "Look-ups by key open the file.", "a bloom filter of the file", "no entry"
                )

    def _absent_statistics(self, snapshot: IndexSnapshot, schema: pa.Schema) -> Iterator[Finding]:
        """Statistics that a partition, or an expression, lacks: queries read more files than necessary."""
        meaning = "Queries read the file more often than necessary."
        if BuiltIn.PARTITION_STATS in snapshot.usable and BuiltIn.COLUMN_STATS in self.opened.definitions:
            lacking = [name for name in self._columns if name not in self._of_partition and _has_statistics(schema, name)]
            if lacking:
                yield Place(BuiltIn.PARTITION_STATS, split_path(self.path)[0]).finding(
                    "MDT-001", "cosmetic", meaning, "an entry for each column of the index",
                    f"none for {', '.join(lacking)}"[:200],
                )  # fmt: skip
        for index, definition in self._expressions.items():
            if definition.kind == BuiltIn.COLUMN_STATS and definition.columns[0] in schema.names:
                yield from self._absent_expression(index, definition.columns[0], meaning)

    def _absent_expression(self, index: str, column: str, meaning: str) -> Iterator[Finding]:
        partition, name = split_path(self.path)
        keys = {
            column_stats_key(column, partition, name): "file",
            expression_partition_stats_key(column, partition): "partition",
        }
        stored = self._stored(index, keys)
        for one in keys.values():
            if one not in stored:
                path = self.path if one == "file" else partition
                yield Place(index, path).finding("MDT-001", "cosmetic", meaning, f"an entry of the {one}", "no entry")


def _has_statistics(schema: pa.Schema, name: str) -> bool:
    """Whether the file has the column, with a type whose statistics are certain to be stored."""
    if name in META_COLUMNS or name not in schema.names:
        return False
    kind = schema.field(name).type
    return bool(pt.is_integer(kind) or pt.is_string(kind) or pt.is_floating(kind) or pt.is_boolean(kind))


def _least(findings: Iterator[list[Finding]]) -> list[Finding]:
    """The shortest of the lists; the first that is empty ends the search."""
    best: list[Finding] | None = None
    for found in findings:
        if not found:
            return []
        best = best or found
    return best or []
