"""Merging a slice with a custom merger, in tables with merge mode CUSTOM.

The versions of a record are merged in the same order as in the other modes, the base row first. The merger is not called for a
record with one version only.
"""

from collections.abc import Iterator, Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import UnsupportedMergeStrategy
from hudi_reference.files.log.content import Delete
from hudi_reference.records.changes import IS_DELETED, KEY, OPERATION, Changes, Identity, delete_flags
from hudi_reference.records.merge import orderings_of
from hudi_reference.records.mergers.merger import BufferedRecord, Merging, Operation, RecordContext, merge_and_check
from hudi_reference.records.row import Row, table_of
from hudi_reference.requirement import implements


@implements("API-005", "API-010", "MRG-032")
def merge_by_merger(base: pa.Table, changes: Changes, merging: Merging) -> pa.Table:
    """The merged rows of a slice, in any order; the merger of `merging` decides. Raises what `merge_and_check` raises."""
    kept, results = merge_records(base, changes, merging)
    rows = [found.row for found in results if not found.is_delete and found.row is not None]
    filled = changes.filled(table_of(rows, base.schema), [not set(base.column_names) <= set(row) for row in rows])
    return pa.concat_tables([base.take(pa.array(kept, pa.int64())), filled])


def merge_records(base: pa.Table, changes: Changes, merging: Merging) -> tuple[list[int], list[BufferedRecord]]:
    """The rows of `base` without changes, and the merged version of every other record, deletes included."""
    context = RecordContext(changes.schema, merging.ordering, merging.defaults)
    histories: dict[Identity, list[BufferedRecord]] = {}
    for number, batch in enumerate(changes.batches):
        for identity, version in zip(changes.identities(number), _versions(changes, number, batch, merging), strict=True):
            histories.setdefault(identity, []).append(version)

    def fold(history: list[BufferedRecord]) -> BufferedRecord:
        return reduce(lambda older, newer: merge_and_check(merging, older, newer, context), history)

    kept: list[int] = []
    results: list[BufferedRecord] = []
    in_base: set[Identity] = set()
    rows = _Rows(base, merging)
    for place, stored in enumerate(changes.identities_of(base)):
        if stored is None or stored not in histories:
            kept.append(place)
            continue
        in_base.add(stored)
        results.append(fold([rows.version(place, Operation.INSERT), *histories[stored]]))
    results += [fold(history) for identity, history in histories.items() if identity not in in_base]
    return kept, results


@implements("MRG-011", "MRG-026")
def combine_by_merger(rows: pa.Table, merging: Merging) -> pa.Table:
    """The rows of one partition and one write, merged to one row for each key; deletes are rows that are marked as such."""
    _, results = merge_records(rows.schema.empty_table(), Changes([rows], rows.schema), merging.of_batch())
    last = {key: place for place, key in enumerate(rows.column(KEY).to_pylist())}
    found = table_of([rows.slice(last[r.key], 1).to_pylist()[0] if r.row is None else r.row for r in results], rows.schema)
    marks = delete_flags(found, merging.marker)
    gone = pa.array([record.is_delete for record in results], pa.bool_())
    if not pc.any(gone).as_py() or (marks is not None and pc.all(pc.or_(marks, pc.invert(gone))).as_py()):
        return found
    if IS_DELETED not in rows.column_names:
        raise UnsupportedMergeStrategy(
            "the merger deletes a record inside one write, and the table has no column that marks deletes", rule="API-010",
            expected=f"a column {IS_DELETED} in the table's schema", found=", ".join(rows.column_names),
        )  # fmt: skip
    return found.set_column(found.column_names.index(IS_DELETED), rows.schema.field(IS_DELETED), gone)


def _versions(changes: Changes, number: int, batch: pa.Table | Sequence[Delete], merging: Merging) -> Iterator[BufferedRecord]:
    if not isinstance(batch, pa.Table):
        for delete in batch:
            yield BufferedRecord(delete.key, delete.ordering, None, Operation.DELETE)
        return
    present = changes.present_columns.get(number)
    rows = batch if present is None else batch.select([name for name in batch.column_names if name in present])
    versions = _Rows(rows, merging, number, is_partial=present is not None)
    for place in range(batch.num_rows):
        yield versions.version(place)


@implements("API-003")
class _Rows:
    """The rows of one block, or of the base file (number None), as versions."""

    def __init__(self, rows: pa.Table, merging: Merging, number: int | None = None, *, is_partial: bool = False) -> None:
        self._columns = dict(zip(rows.column_names, rows.columns, strict=True))
        self._keys = rows.column(KEY)
        self._orderings = orderings_of(rows, merging.ordering)
        flags = delete_flags(rows, merging.marker)
        self._flags = None if flags is None else flags.to_pylist()
        self._number = 0 if number is None else number + 1
        self._is_partial = is_partial

    def version(self, place: int, operation: Operation | None = None) -> BufferedRecord:
        """The version in one row, with `operation`, or with the operation that the row stores."""
        key, row = self._keys[place].as_py(), Row.at(self._columns, place)
        operation = operation or self._operation(place, row)
        return BufferedRecord(key, self._orderings[place], row, operation, self._number, self._is_partial)

    def _operation(self, place: int, row: Row) -> Operation:
        stored = row.get(OPERATION)
        if self._flags is not None and self._flags[place]:
            return Operation.UPDATE_BEFORE if stored == "-U" else Operation.DELETE
        return Operation(stored) if stored in ("I", "U") else Operation.INSERT
