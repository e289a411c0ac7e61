"""Plans of queries: the columns and slices that a query reads, and how it reads a slice."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.file_groups import FileSlice, Span
from hudi_reference.query.incremental import COMMIT_TIME, Window, rows_written_in
from hudi_reference.query.pruning.folder_listing import Listed, list_all, list_partitions
from hudi_reference.query.pruning.partition_columns import DROP_KEY, dropped_columns
from hudi_reference.query.pruning.partition_pruning import ChosenPartitions, PartitionFilter, partition_filter
from hudi_reference.query.pruning.predicates import Comparison, matching_rows, no_such_column
from hudi_reference.query.pruning.table_indexes import Commits, Filter, TableIndexes
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records.mergers.merger import RecordMerger
from hudi_reference.records.payloads.merger_resolution import merging_of
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import (
    AvroSchema,
    arrow_schema,
    parse_schema,
    with_meta_columns,
    without_meta_columns,
)
from hudi_reference.schema.fields import type_at
from hudi_reference.storage import LocalStorage, MemoryStorage, Storage
from hudi_reference.timeline.active import completion_order


@dataclass(frozen=True)
class SliceQuery:
    """Reading and filtering one slice; rows are filtered after the merge, so filters do not change its result."""

    reader: SliceReader
    columns: list[str]
    where: list[Comparison]
    logs: bool
    #: The window of an incremental query: only rows that were written in it are returned.
    window: Window | None = None

    def __call__(self, file_slice: FileSlice) -> pa.Table:
        """The rows of one slice."""
        times = () if self.window is None else (COMMIT_TIME,)
        rows = self.reader.read(file_slice, list(dict.fromkeys([*self.columns, *times])), logs=self.logs)
        if self.window is not None:
            rows = rows_written_in(rows, self.window, self.reader.scanner.timeline)
        return (matching_rows(rows, self.where) if self.where else rows).select(self.columns)


@dataclass(frozen=True)
class Plan:
    """A planned query: `names` are the columns of its result, `no_rows` is the result if there are no slices."""

    read: SliceQuery
    slices: Sequence[FileSlice]
    names: list[str]
    no_rows: pa.Table


#: Local files of fewer bytes are read in one thread: with more, threads mostly wait for Python's lock.
SMALL_FILE = 256 << 10


def use_threads(storage: Storage, slices: Sequence[FileSlice], committed: Mapping[str, Sequence[Span]]) -> bool:
    """Whether threads read these slices faster than one thread does; `committed` are the spans of files by path.

    Files on a local file system or in memory do not make a reader wait. Their size is that of the files that the active
    timeline describes.
    """
    sizes = [found[-1][1] for one in slices for path in one.paths if (found := committed.get(path))]
    is_small = bool(sizes) and sum(sizes) < len(sizes) * SMALL_FILE
    return len(slices) > 1 and not (is_small and isinstance(storage, LocalStorage | MemoryStorage))


def check_columns(names: Iterable[str], schema: pa.Schema) -> None:
    """Raises InvalidQuery for a column that the table lacks."""
    stored = frozenset(schema.names)
    for name in names:
        if name not in stored:
            raise no_such_column(name, schema)


@implements("LF-038")
@implements("TYP-007")
def schema_of(commits: Commits, properties: TableProperties) -> AvroSchema | None:
    """The schema of the table, from its creation if no commit has one; None if only base files have it.

    It is that of the write that completed last: of two concurrent writes the one with the earlier requested time may be the
    later one, and may have added columns. A service moves rows with the schema that the table had when the service began.
    """
    # ER-253: deployed readers take the write with the greatest requested time.
    known = [(instant, commit) for instant, commit in commits.items() if commit.schema is not None]
    if known:
        instant, commit = max(known, key=lambda one: (not one[1].is_service, completion_order(one[0])))
        return without_meta_columns(parse_schema(commit.schema or "", instant.file_name))
    text = properties.get("hoodie.table.create.schema")
    return without_meta_columns(parse_schema(text, "hoodie.table.create.schema")) if text else None


@dataclass
class QueryListing:
    """Lists the files of the partitions that the filter of a query needs: through the metadata table, or from storage.

    `open_indexes` returns the indexes that are up to date with the completed writes; afterwards they are in `indexes`.
    """

    storage: Storage
    properties: TableProperties
    mergers: Sequence[RecordMerger]
    where: Sequence[Comparison]
    open_indexes: Callable[[Commits], TableIndexes | None]
    indexes: TableIndexes | None = field(default=None, init=False)

    @implements("MDT-009", "RDR-018")
    def __call__(self, commits: Commits) -> Listed:
        """The paths in these partitions; `commits` are the completed writes of the active timeline."""
        self.indexes, schema = self.open_indexes(commits), self._schema(commits)
        wanted = None if schema is None else partition_filter(self.where, self.properties, schema)
        if self.indexes is None:
            if wanted is None:
                return Listed(list_all(self.storage))
            chosen = _choose(wanted.holding, commits)
            return Listed(list_partitions(self.storage, wanted, chosen), chosen)
        if schema is None:
            return Listed(set(self.indexes.paths(list)))
        chosen = _choose(partial(self._holding, self.indexes, wanted, schema), commits)
        return Listed(set(self.indexes.paths(chosen.among)), chosen)

    def _holding(
        self, indexes: TableIndexes, wanted: PartitionFilter | None, schema: pa.Schema, partitions: Sequence[str]
    ) -> list[bool]:
        """For each partition whether the filter needs it, by its path and its statistics."""
        known = [one for one in self.where if type_at(schema, one[0]) is not None]
        if self.properties.is_set(DROP_KEY):
            known = dropped_columns(self.properties).other_comparisons(known)
        holds = [True] * len(partitions) if wanted is None else wanted.holding(partitions)
        left = [one for one, may in zip(partitions, holds, strict=True) if may]
        needed = set(indexes.matching_partitions(left, Filter(known, schema)))
        return [one in needed for one in partitions]

    def _schema(self, commits: Commits) -> pa.Schema | None:
        """The columns of rows, if the filter may be compared with what files have; otherwise None."""
        schema = schema_of(commits, self.properties) if self.where else None
        if schema is None or merging_of(self.properties, self.mergers, schema).merger is not None:
            return None  # a merger may change the value of a partition column
        if self.properties.is_set(DROP_KEY):
            schema = dropped_columns(self.properties).added_to(schema)
        return arrow_schema(with_meta_columns(schema))


def _choose(holding: Callable[[Sequence[str]], list[bool]], commits: Commits) -> ChosenPartitions:
    """The choice of partitions, decided for those of all completed writes at once."""
    chosen = ChosenPartitions(holding)
    chosen.among({stat.partition for commit in commits.values() for stat in commit.stats})
    return chosen
