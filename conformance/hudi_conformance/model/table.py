"""The model of a table: a list of changes, replayed into a dictionary from key to record."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from hudi_conformance.model.merge import (
    PARTIAL_UPDATE_MODES,
    PAYLOADS,
    PayloadBehaviour,
    Record,
    Row,
    Rules,
    copy_rows,
    value_at,
)

Operation = Literal[
    "insert", "upsert", "delete", "partial_update", "bulk_insert", "insert_overwrite", "delete_partition", "compact"
]

#: Partition values, then values of the record key. Rows with one key in two partitions are two records.
Key = tuple[tuple[Any, ...], tuple[Any, ...]]
Records = dict[Key, Record]


@dataclass(frozen=True)
class Change:
    """One completed action: the rows given to it, its requested time and its completion time (None if they are not needed)."""

    operation: Operation
    rows: tuple[Row, ...]
    instant: str | None
    completion: str | None = None


class Model:
    """The rows that a table must return.

    `merge_mode` None is event time if there is an ordering field, else commit time; CUSTOM merges by a `payload` class of
    `PAYLOADS`. `partial_update_mode` is one of `PARTIAL_UPDATE_MODES`, `delete_marker` the delete field of the table and its
    marker. Without a record key every row is a separate record.
    """

    def __init__(
        self,
        *,
        record_key: Sequence[str] = (),
        partition: Sequence[str] = (),
        ordering: Sequence[str] = (),
        merge_mode: Literal["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING", "CUSTOM"] | None = None,
        table_type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"] = "COPY_ON_WRITE",
        payload: str | None = None,
        partial_update_mode: str | None = None,
        delete_marker: tuple[str, str] | None = None,
        has_buckets: bool = False,
    ) -> None:
        mode = merge_mode or ("EVENT_TIME_ORDERING" if ordering else "COMMIT_TIME_ORDERING")
        filled = PARTIAL_UPDATE_MODES[partial_update_mode] if partial_update_mode else ()
        standard = PayloadBehaviour(mode == "COMMIT_TIME_ORDERING", fills=filled)
        behaviour = PAYLOADS[payload] if payload is not None and mode == "CUSTOM" else standard
        self._record_key = tuple(record_key)
        self._partition = tuple(partition)
        self._rules = Rules(
            ordering=() if behaviour.overwrites else ((behaviour.ordering,) if behaviour.ordering else tuple(ordering)),
            keeps_tombstones=table_type == "MERGE_ON_READ",
            behaviour=behaviour,
            marker=delete_marker,
            appends=has_buckets and table_type == "MERGE_ON_READ",
        )
        self._merge_on_read = table_type == "MERGE_ON_READ"
        self._changes: list[Change] = []

    def apply(
        self,
        operation: Operation,
        rows: Sequence[Mapping[str, Any]] = (),
        instant: str | None = None,
        completion: str | None = None,
    ) -> None:
        """One completed action, in the order of the timeline.

        `rows` of a delete hold at least the key and partition columns, of `delete_partition` the partition columns, of
        `compact` nothing. `insert_overwrite` replaces the partitions of its rows.
        """
        if operation not in get_args(Operation):
            raise ValueError(f"the model does not have the operation {operation!r}; it has {', '.join(get_args(Operation))}")
        self._changes.append(Change(operation, tuple(dict(row) for row in rows), instant, completion))

    def undo(self, instant: str) -> None:
        """Roll back that action."""
        self._changes = [change for change in self._changes if change.instant != instant]

    def restore(self, instant: str) -> None:
        """Roll back every action requested after that one."""
        self._changes = [change for change in self._changes if change.instant is not None and change.instant <= instant]

    def snapshot(self) -> list[Row]:
        """The latest rows, in no particular order."""
        return self._rows(self._changes)

    def as_of(self, instant: str) -> list[Row]:
        """The rows after the actions whose requested time is no later than `instant`; times compare as text."""
        if any(change.instant is None for change in self._changes):
            raise ValueError("as_of needs a table all of whose changes were applied with their instant")
        return self._rows([c for c in self._changes if c.instant is not None and c.instant <= instant])

    @property
    def history(self) -> tuple[Change, ...]:
        """The actions, in the order of the timeline."""
        return tuple(self._changes)

    def records_after(self, changes: Iterable[Change]) -> Records:
        """The records after these of the actions. Rows in them are those given to the actions, and no copies."""
        return self._replay(changes)

    def has_key(self, row: Mapping[str, Any]) -> bool:
        """Whether the key of the row was ever written."""
        return self._key(dict(row)) in self._replay(self._changes)

    def replay(self, changes: Iterable[Change]) -> Iterator[tuple[Change, Records]]:
        """The records after each of these actions; the same ones each time, changed."""
        records: Records = {}
        for change in changes:
            self._take(change, records)
            yield change, records

    def read_optimized(self) -> list[Row]:
        """The rows of the base files: on merge-on-read what first inserts and compaction put there."""
        if not self._merge_on_read:
            return self.snapshot()
        return [row for record in self._replay(self._changes).values() for row in copy_rows(record.base)]

    def _rows(self, changes: Iterable[Change]) -> list[Row]:
        return [row for record in self._replay(changes).values() for row in copy_rows(record.rows)]

    def _replay(self, changes: Iterable[Change]) -> Records:
        records: Records = {}
        for change in changes:
            self._take(change, records)
        return records

    def _take(self, change: Change, records: Records) -> None:
        steps: dict[Operation, Callable[[Records, tuple[Row, ...]], None]] = {
            "insert": self._insert,
            "bulk_insert": self._insert,
            "upsert": self._upsert,
            "delete": self._delete,
            "partial_update": self._partial_update,
            "insert_overwrite": self._insert_overwrite,
            "delete_partition": self._delete_partition,
            "compact": self._compact,
        }
        steps[change.operation](records, change.rows)

    def _insert(self, records: Records, rows: tuple[Row, ...]) -> None:
        for row in rows:
            records.setdefault(self._key(row), Record()).insert(row, self._rules)

    def _upsert(self, records: Records, rows: tuple[Row, ...]) -> None:
        batch: dict[Key, list[Row]] = {}
        for row in rows:
            batch.setdefault(self._key(row), []).append(row)
        for key, versions in batch.items():
            records.setdefault(key, Record()).upsert(self._rules.deduplicate(versions), self._rules)

    def _partial_update(self, records: Records, rows: tuple[Row, ...]) -> None:
        for row in rows:
            if record := records.get(self._key(row)):
                record.update(row, self._rules)

    def _delete(self, records: Records, rows: tuple[Row, ...]) -> None:
        for row in rows:
            if record := records.get(self._key(row)):
                record.delete()

    def _insert_overwrite(self, records: Records, rows: tuple[Row, ...]) -> None:
        self._delete_partition(records, rows)
        self._insert(records, rows)

    def _delete_partition(self, records: Records, rows: tuple[Row, ...]) -> None:
        gone = {self.partition_of(row) for row in rows}
        for key in [key for key in records if key[0] in gone]:
            del records[key]

    def _compact(self, records: Records, _rows: tuple[Row, ...]) -> None:
        for record in records.values():
            record.compact()

    def _key(self, row: Row) -> Key:
        """The key of `row`; without record key fields the row itself, which no other row equals."""
        own = tuple(value_at(row, name) for name in self._record_key) if self._record_key else (id(row),)
        return self.partition_of(row), own

    def partition_of(self, row: Row) -> tuple[Any, ...]:
        """The partition values of a row."""
        return tuple(value_at(row, name) for name in self._partition)
