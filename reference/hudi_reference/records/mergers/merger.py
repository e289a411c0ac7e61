"""How a table merges, and the interface of mergers, spec "Record Merger".

A merger gets two versions of one record, the older one first, and returns the merged version. It is found by the strategy id in
the properties of the table. `merge_and_check` checks every result, because mergers are user code.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar

import pyarrow as pa

from hudi_reference.errors import InvalidProperty, MergerFault, UnsupportedMergeStrategy
from hudi_reference.files.log.deletes import Ordering
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.records.changes import DeleteMarker, delete_columns
from hudi_reference.records.merge import is_lower, orderings_of
from hudi_reference.records.merge_tables import Kind
from hudi_reference.records.row import Row
from hudi_reference.requirement import implements

#: The record type of mergers here: rows as mappings with values from Arrow. Mergers of other record types are not used.
RECORD_TYPE = "ARROW"


class Operation(Enum):
    """The operation of a version on its record; the values are those of the column `_hoodie_operation`."""

    INSERT = "I"
    UPDATE_BEFORE = "-U"
    UPDATE_AFTER = "U"
    DELETE = "D"


@implements("API-003")
@dataclass(frozen=True)
class BufferedRecord:
    """One version of a record: input and result of a merger.

    `row` has values by column; a delete may have none. A version of a partial update has only some columns (`is_partial`).
    `ordering` is None if the table has no ordering field, if the value is null, and for a delete by key. `schema_id` is the
    number of the block from which the row was read, for `RecordContext.schema_of`; None without a stored row.
    """

    key: str
    ordering: Ordering | None
    row: Mapping[str, Any] | None
    operation: Operation = Operation.INSERT
    schema_id: int | None = None
    is_partial: bool = False

    @property
    def is_delete(self) -> bool:
        """Whether the version deletes the record."""
        return self.operation in (Operation.DELETE, Operation.UPDATE_BEFORE)

    @property
    def kind(self) -> Kind:
        """The kind of the version in the decision tables."""
        if not self.is_delete:
            return Kind.ROW
        return Kind.KEY_DELETE if self.row is None and self.ordering is None else Kind.DELETE


@implements("API-004", "API-020")
@dataclass(frozen=True)
class RecordContext:
    """Access to records for mergers, independent of the engine: fields, keys, schemas, new rows and deletes.

    `schema` is the schema of the reader. `defaults` are the default values of columns.
    """

    schema: pa.Schema
    ordering: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def value(self, record: BufferedRecord, name: str) -> Any:
        """The value of a field, where `a.b` is field b of struct a; None if the version does not have it."""
        found: Any = record.row
        for step in name.split("."):
            found = None if found is None else found.get(step)
        return found

    def key(self, record: BufferedRecord) -> str:
        """The record key."""
        return record.key

    def schema_of(self, record: BufferedRecord) -> pa.Schema:
        """The columns of the version, in the order of the schema of the reader."""
        return pa.schema([column for column in self.schema if record.row is not None and column.name in record.row])

    def row(self, values: Mapping[str, Any], over: Mapping[str, Any] | None = None) -> Row:
        """A row with `values`; other columns are those of the row `over`. Raises MergerFault for unknown columns."""
        unknown = [name for name in values if name not in self.schema.names]
        if unknown:
            raise MergerFault("the merger made a column that is not in the schema of the reader", rule="API-012",
                              expected=", ".join(self.schema.names), found=", ".join(unknown))  # fmt: skip
        return Row({**Row.cells_of(over or {}), **Row.cells_of(values)})

    def ordering_of(self, row: Mapping[str, Any] | None) -> Ordering | None:
        """The ordering value of a row, by its columns."""
        if row is None or not self.ordering:
            return None
        names = [name for name in dict.fromkeys(path.partition(".")[0] for path in self.ordering) if name in row]
        fields = [self.schema.field(name) for name in names]
        columns = [pa.array([Row.cells_of(row)[field.name]], field.type) for field in fields]
        return orderings_of(pa.table(columns, schema=pa.schema(fields)), self.ordering)[0] if fields else None

    def is_late(self, older: BufferedRecord, newer: BufferedRecord) -> bool:
        """Whether the newer version has the lower ordering value. Raises IncomparableOrdering."""
        return is_lower(newer.ordering, older.ordering)

    def updated(self, record: BufferedRecord, row: Mapping[str, Any]) -> BufferedRecord:
        """The record with another row and its ordering value."""
        return replace(record, row=row, ordering=self.ordering_of(row))

    @implements("API-018", "API-019")
    def delete(self, key: str, ordering: Ordering | None, row: Mapping[str, Any] | None = None) -> BufferedRecord:
        """A delete; with a row, later merges can use the deleted data."""
        return BufferedRecord(key, ordering, row, Operation.DELETE)


@implements("API-001", "API-002", "API-007", "API-017")
class RecordMerger(ABC):
    """Merges two versions of a record. Stateless; found by `strategy_id`, a UUID, among the mergers given to a reader.

    `merge` should be associative, because the order of merging depends on when the table was compacted.
    """

    strategy_id: ClassVar[str]
    #: The record type that it supports. An engine uses only mergers of its own record type.
    record_type: ClassVar[str] = RECORD_TYPE
    #: Whether columns that a query does not read may be missing, except `mandatory_fields`.
    is_projection_compatible: ClassVar[bool] = False
    #: Columns that it always needs.
    mandatory_fields: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        """The name for messages."""
        return type(self).__name__

    @abstractmethod
    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """The merged version of two versions that have all columns or are deletes. Never None.

        A delete has the operation DELETE. If the table has ordering fields, the result has an ordering value.
        """

    def partial_merge(
        self, older: BufferedRecord, newer: BufferedRecord, schema: pa.Schema, context: RecordContext
    ) -> BufferedRecord:
        """The merged version if at least one of the two has only some columns; `schema` is the schema of the reader.

        The result has the columns of both inputs, and no other. Refused unless a merger implements it.
        """
        raise UnsupportedMergeStrategy(
            f"{self.name} does not support versions with only some columns",
            rule="API-013", expected="a merger with partial_merge", found=self.strategy_id,
        )  # fmt: skip

    def merge_in_batch(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """The merged version of two records of one write, `newer` being the later one."""
        return self.merge(older, newer, context)


@dataclass(frozen=True)
class Merging:
    """How a table merges the versions of a record. Queries, writes and services all use it, so that they agree.

    `ordering` are the ordering fields; `marker` marks rows as deletes; `merger` is set in mode CUSTOM.
    """

    mode: MergeMode
    ordering: tuple[str, ...] = ()
    marker: DeleteMarker | None = None
    merger: RecordMerger | None = None
    #: Default values by column, for mergers that use them.
    defaults: Mapping[str, Any] = field(default_factory=dict)
    #: Whether the versions are of one write.
    in_batch: bool = False
    #: The ordering fields that decide, whose values deletes store too.
    ordering_used: tuple[str, ...] = field(init=False)
    #: The mode without a merger: without ordering fields the later version always wins.
    standard_mode: MergeMode = field(init=False)

    def __post_init__(self) -> None:
        """Fill the fields that follow from mode and ordering fields."""
        by_commit_time: MergeMode = "COMMIT_TIME_ORDERING"
        vars(self).update(
            ordering_used=() if self.mode == by_commit_time else self.ordering,
            standard_mode=self.mode if self.ordering else by_commit_time,
        )

    def of_batch(self) -> "Merging":
        """The same for records of one write."""
        return replace(self, in_batch=True)

    @implements("API-002", "API-012")
    def columns(self, wanted: set[str], every: set[str]) -> set[str]:
        """The columns that have to be read for the merge, of a table with the columns `every`. Raises InvalidProperty."""
        absent = [path for path in self.ordering_used if path.partition(".")[0] not in every]
        if absent:  # if it counted as null, all versions would have equal ordering values
            raise InvalidProperty(
                "the table orders versions by a column that it lacks", rule="MRG-028", found=", ".join(absent),
                expected=f"one of {', '.join(sorted(every))}", remedy="name the column in hoodie.table.precombine.field",
            )  # fmt: skip
        if self.merger is not None and not self.merger.is_projection_compatible:
            return every
        needed = {path.partition(".")[0] for path in self.ordering} | set(delete_columns(self.marker))
        return (wanted | needed | set(self.merger.mandatory_fields if self.merger else ())) & every


@implements("API-001", "API-005", "API-012")
def merge_and_check(merging: Merging, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
    """The checked result of the merger. Raises MergerFault."""
    merger = merging.merger
    assert merger is not None
    if older.is_partial or newer.is_partial:
        return check_result(merger, merger.partial_merge(older, newer, context.schema, context), (older, newer), context)
    merge = merger.merge_in_batch if merging.in_batch else merger.merge
    return check_result(merger, merge(older, newer, context), (older, newer), context)


@implements("API-009", "API-010", "API-011", "API-014", "API-015", "API-016")
def check_result(
    merger: RecordMerger, result: Any, inputs: tuple[BufferedRecord, BufferedRecord], context: RecordContext
) -> BufferedRecord:
    """Check the result of a merge. Raises MergerFault for a result that would silently lose or change rows."""

    def fault(message: str, rule: str, expected: str) -> MergerFault:
        return MergerFault(f"{merger.name} {message}", rule=rule, expected=expected, found=repr(result),
                           remedy="fix the merger; the table is unchanged")  # fmt: skip

    if not isinstance(result, BufferedRecord):
        raise fault("returned no record", "API-009", "a BufferedRecord; for a delete one with the operation DELETE")
    if any(result is found for found in inputs):
        return result
    if result.row is None and not result.is_delete:
        raise fault("returned neither a row nor a delete", "API-010", "the operation DELETE")
    if context.ordering and result.ordering is None and _has_ordering(result, inputs, context):
        raise fault("returned a record without its ordering value", "API-011", f"the value of {', '.join(context.ordering)}")
    present = {name for found in inputs for name in found.row or ()}
    if any(found.is_partial for found in inputs) and result.row is not None and not present.issuperset(result.row):
        raise fault("returned columns that neither version has", "API-014", ", ".join(sorted(present)))
    return result


def _has_ordering(result: BufferedRecord, inputs: tuple[BufferedRecord, BufferedRecord], context: RecordContext) -> bool:
    """Whether a result without ordering value should have one.

    It should not if its row or both inputs have null, nor if one of the inputs is a delete by key.
    """
    if result.row is not None:
        return context.ordering_of(result.row) is not None
    return any(found.ordering is not None for found in inputs) and all(found.kind is not Kind.KEY_DELETE for found in inputs)
