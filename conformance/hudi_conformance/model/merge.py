"""Merging of the versions of one record.

A version is a row. A row whose `_hoodie_is_deleted` is true is a delete with an ordering value ("flagged"); a delete by key
has no ordering value. The two standard merge modes differ only in whether a version may replace the stored row
(`Rules.replaces`). Payload classes differ in further ways (`PayloadBehaviour`): those of database sources name the columns of
the ordering value and of the flag themselves.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Row = dict[str, Any]
#: The values of the ordering fields of one version, in the order of the fields.
Ordering = tuple[Any, ...]

DELETED = "_hoodie_is_deleted"


def value_at(row: Mapping[str, Any], field: str) -> Any:
    """The value of a field of the row; `a.b` is the field `b` of the record in column `a`, null if there is no record."""
    found: Any = row
    for name in (field,) if field in row else field.split("."):
        found = None if found is None else found.get(name)
    return found


def at_least(newer: Ordering, older: Ordering) -> bool:
    """Whether `newer` is no smaller than `older`, field by field; the first field that differs decides.

    A null counts as 0, the default ordering value; for a type that cannot be compared with 0 it is below every value.
    Text compares by code points, which is the order of its UTF-8 bytes; NaN is above every number, -0.0 below 0.0.
    """
    for n, o in zip(newer, older, strict=True):
        sign = _compare(n, o)
        if sign:
            return sign > 0
    return True


def _compare(a: Any, b: Any) -> int:
    """Negative, zero or positive, as `a` is below, equal to or above `b`."""
    if a is None or b is None:
        other = b if a is None else a
        if not isinstance(other, int | float | Decimal):
            return (a is not None) - (b is not None)
        a, b = (0 if value is None else value for value in (a, b))
    if isinstance(a, float) or isinstance(b, float):
        a, b = _rank(a), _rank(b)
    return int(a > b) - int(a < b)


def _rank(number: float) -> tuple[bool, float, float]:
    """A total order of floating-point numbers."""
    nan = math.isnan(number)
    return nan, 0.0 if nan else number, math.copysign(1.0, number)


#: A value that the source of a change did not send.
UNAVAILABLE = "__debezium_unavailable_value"


def log_position(text: Any) -> Any:
    """A position in a binary log, `FILE.OFFSET`, as two numbers."""
    file, offset = text.split(".")
    return int(file), int(offset)


@dataclass(frozen=True)
class PayloadBehaviour:
    """How a payload class differs from a merge by ordering values."""

    #: The later version is kept; ordering values are ignored.
    overwrites: bool = False
    #: Of versions with equal ordering values, the earlier one is kept.
    first_of_equals: bool = False
    #: The version with the lower ordering value is kept.
    reverses: bool = False
    #: Values of the kept row that are filled from the other one: null, or the placeholder of an unavailable value.
    fills: tuple[str | bytes | None, ...] = ()
    #: Whether a row that is kept against a later version is filled too.
    fills_from_late_rows: bool = True
    #: A flagged delete also removes rows with greater ordering values.
    late_deletes_remove: bool = False
    #: The column that flags deletes and its value; texts are compared without regard to case.
    flag: tuple[str, Any] = (DELETED, True)
    #: The ordering field that the class itself names; empty if the table names it.
    ordering: str = ""
    #: Makes the ordering value comparable.
    position: Callable[[Any], Any] = lambda value: value


#: The payload classes by name without package. The default of every column is null.
PAYLOADS: Mapping[str, PayloadBehaviour] = {
    "AWSDmsAvroPayload": PayloadBehaviour(overwrites=True, flag=("Op", "D")),
    "DefaultHoodieRecordPayload": PayloadBehaviour(),
    "EventTimeAvroPayload": PayloadBehaviour(),
    "FirstValueAvroPayload": PayloadBehaviour(first_of_equals=True),
    "HoodieAvroPayload": PayloadBehaviour(overwrites=True),
    "OverwriteNonDefaultsWithLatestAvroPayload": PayloadBehaviour(overwrites=True, fills=(None,)),
    "OverwriteWithLatestAvroPayload": PayloadBehaviour(overwrites=True),
    "PartialUpdateAvroPayload": PayloadBehaviour(fills=(None,), late_deletes_remove=True),
    "ReverseOrderHoodieRecordPayload": PayloadBehaviour(reverses=True),
    "debezium.MySqlDebeziumAvroPayload": PayloadBehaviour(
        first_of_equals=True, flag=("_change_operation_type", "d"), ordering="_event_seq", position=log_position
    ),
    "debezium.PostgresDebeziumAvroPayload": PayloadBehaviour(
        fills=(UNAVAILABLE,), fills_from_late_rows=False, flag=("_change_operation_type", "d"), ordering="_event_lsn"
    ),
}

#: The partial update modes of version 9: the values that each fills.
PARTIAL_UPDATE_MODES: Mapping[str, tuple[str | bytes | None, ...]] = {
    "IGNORE_DEFAULTS": (None,),
    "FILL_UNAVAILABLE": (UNAVAILABLE, UNAVAILABLE.encode()),
}


@dataclass(frozen=True)
class Rules:
    """The rules that select a version of a record, and whether deletes are remembered.

    `ordering` is empty if the later version is kept. `keeps_tombstones` is true for merge-on-read: there the log remembers the
    ordering value of a flagged delete until compaction, while a copy-on-write file has no trace of the row. `marker` is the
    delete field of the table and the text that marks a delete in it.
    """

    ordering: tuple[str, ...]
    keeps_tombstones: bool
    behaviour: PayloadBehaviour = PayloadBehaviour()
    marker: tuple[str, str] | None = None
    #: Writers append to the log of a bucket without a look at its keys: flagged deletes of unknown keys are remembered too.
    appends: bool = False

    def ordering_of(self, row: Row) -> Ordering:
        """The ordering values of `row`; () in commit-time mode, where all rows are equal."""
        return tuple(self.behaviour.position(value_at(row, name)) for name in self.ordering)

    def is_delete(self, row: Row) -> bool:
        """Whether the row is flagged as deleted, or has the delete marker."""
        if self.marker is not None and str(row.get(self.marker[0])) == self.marker[1]:
            return True
        column, value = self.behaviour.flag
        found = row.get(column)
        return bool(found.lower() == value.lower() if isinstance(found, str) else found == value)

    def replaces(self, newer: Row, older: Row) -> bool:
        """Whether `newer`, which arrived later, replaces `older`: by ordering value; at a tie, the later one is kept."""
        return self.wins_by_ordering(self.ordering_of(newer), self.ordering_of(older))

    def wins_by_ordering(self, newer: Ordering, older: Ordering) -> bool:
        """Whether the later of two versions is kept by its ordering value."""
        if self.behaviour.reverses:
            return at_least(older, newer)
        return not at_least(older, newer) if self.behaviour.first_of_equals and newer else at_least(newer, older)

    def merge_rows(self, newer: Row, older: Row) -> Row:
        """The result of merging two rows."""
        stays, other = (newer, older) if self.replaces(newer, older) else (older, newer)
        if stays is older and not self.behaviour.fills_from_late_rows:
            return older
        filled = {name: other.get(name) if value in self.behaviour.fills else value for name, value in stays.items()}
        if None in self.behaviour.fills:  # a column that was added after a row was written is null in it
            filled |= {name: value for name, value in other.items() if name not in stays}
        return stays if filled == stays else filled  # an unchanged row is no new version

    def removes(self, delete: Row, row: Row) -> bool:
        """Whether a flagged delete that arrived later removes the row."""
        return self.behaviour.late_deletes_remove or self.replaces(delete, row)

    def deduplicate(self, versions: Iterable[Row]) -> Row:
        """The one of several versions of a record in one batch that counts."""
        best: Row | None = None
        for version in versions:
            if best is None or self.replaces(version, best):
                best = version
        assert best is not None, "a batch holds at least one version of each of its keys"
        return best


@dataclass
class Record:
    """The state of one key in one partition.

    `rows` is what a snapshot returns: at most one row, unless inserts, which do not look up keys, added more. Changes are
    merged into the first of these (ER-216). `base` are the rows in base files. `tombstone` is the ordering value of the flagged
    delete that removed the row, while it is remembered.
    """

    rows: list[Row] = field(default_factory=list)
    base: list[Row] = field(default_factory=list)
    tombstone: Ordering | None = None

    def insert(self, row: Row, rules: Rules) -> None:
        """Add a row, also if the key exists. A row that is flagged as deleted is not written."""
        if not rules.is_delete(row):
            self.rows.append(row)
            self.base.append(row)

    def upsert(self, version: Row, rules: Rules) -> None:
        """Merge `version`: it replaces the stored row, is ignored, or removes it."""
        known = bool(self.rows or self.base or self.tombstone is not None)
        if not known and rules.appends and rules.is_delete(version):
            self.tombstone = rules.ordering_of(version)
        elif not known:
            self.insert(version, rules)
        elif rules.is_delete(version):
            self._delete_flagged(version, rules)
        else:
            self._replace(version, rules)

    def update(self, version: Row, rules: Rules) -> None:
        """Merge `version`, which has some columns: they replace those of the first row, if it may replace them."""
        self.rows[:1] = [{**row, **version} if rules.replaces(version, row) else row for row in self.rows[:1]]

    def delete(self) -> None:
        """Delete by key: the earlier versions of the first row are removed, regardless of ordering values."""
        self.rows = self.rows[1:]
        self.tombstone = None

    def compact(self) -> None:
        """Move the rows to base files; remembered deletes are dropped with their logs."""
        self.base = list(self.rows)
        self.tombstone = None

    def _replace(self, version: Row, rules: Rules) -> None:
        if self.tombstone is not None and not rules.wins_by_ordering(rules.ordering_of(version), self.tombstone):
            return
        self.tombstone = None
        self.rows[:1] = [rules.merge_rows(version, row) for row in self.rows[:1]] or [version]

    def _delete_flagged(self, version: Row, rules: Rules) -> None:
        own = rules.ordering_of(version)
        if self.tombstone is not None:
            self.tombstone = own if rules.wins_by_ordering(own, self.tombstone) else self.tombstone
        elif self.rows:
            self.rows[:1] = [row for row in self.rows[:1] if not rules.removes(version, row)]
            self.tombstone = own if rules.keeps_tombstones and not self.rows else None


def copy_rows(rows: Sequence[Row]) -> list[Row]:
    """Rows that the caller may change without changing the table."""
    return [dict(row) for row in rows]
