"""The parts of a recipe, as data: tables, steps, checks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from tools.recipes.interrupted_actions import Until

Row = Mapping[str, Any]
Producer = Literal["apache-hudi@1.0.2", "apache-hudi@1.2.0", "reference"]
HUDI: Producer = "apache-hudi@1.0.2"
HUDI_1_2: Producer = "apache-hudi@1.2.0"
REFERENCE: Producer = "reference"
BOTH: tuple[Producer, ...] = (HUDI, REFERENCE)
TableType = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
MergeMode = Literal["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING", "CUSTOM"]
COW: TableType = "COPY_ON_WRITE"
MOR: TableType = "MERGE_ON_READ"
EVENT: MergeMode = "EVENT_TIME_ORDERING"
COMMIT: MergeMode = "COMMIT_TIME_ORDERING"
MERGE_FEATURES: Mapping[MergeMode, str] = {EVENT: "merge.event-time", COMMIT: "merge.commit-time", "CUSTOM": "merge.custom"}


@dataclass(frozen=True)
class Table:
    """A table to be created: the fields of the contract's `TableSpec`, with columns as (name, Avro type).

    Every column is nullable, as Spark writes it. `options` are settings of Apache Hudi's writer for all steps.
    """

    columns: tuple[tuple[str, Any], ...]
    type: TableType = MOR
    record_key: tuple[str, ...] = ("id",)
    partition: tuple[str, ...] = ()
    ordering: tuple[str, ...] = ("ts",)
    merge_mode: MergeMode | None = None
    hive_style: bool = False
    url_encode: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    version: int = 8

    @property
    def mode(self) -> MergeMode:
        """The merge mode; if none is given, it is inferred."""
        return self.merge_mode or (EVENT if self.ordering else COMMIT)

    @property
    def merge_feature(self) -> str:
        """The feature that an engine needs to merge in the table's mode."""
        return MERGE_FEATURES[self.mode]

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The partition columns, without the types of a custom key generator (`name:TYPE`)."""
        return tuple(name.partition(":")[0] for name in self.partition)

    def having(self, **changes: Any) -> "Table":
        """The same table with `changes`; `options` are added to the existing ones."""
        options = {**self.options, **changes.pop("options", {})}
        return replace(self, options=options, **changes)


@dataclass(frozen=True)
class Step:
    """One action on the table.

    `kind` is a write operation of the contract, or an action that only Apache Hudi supports. `rows` are the rows to
    write (for deletes: keys; for `delete_partition`: partition values). `model` is the operation of the model, if it
    differs from `kind`, or "nothing". `columns` replaces the table's columns from this
    step on (schema evolution). `options` are writer settings for this step; `of` is the number of the earlier step that the
    action refers to. `until` is the state in which the writer stopped, None for a completed action. `statement` is the SQL of
    a step `create_index` or `sql`; `{table}` in it is the name of the table, `{path}` its folder.
    """

    kind: str
    rows: tuple[Row, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[tuple[str, Any], ...] | None = None
    of: int | None = None
    model: str | None = None
    until: Until | None = None
    statement: str | None = None

    @property
    def modelled(self) -> str:
        """The model's operation for this step."""
        return self.model or self.kind


def insert(*rows: Row, **more: Any) -> Step:
    """Rows that are added without key lookup."""
    return Step("insert", rows, **more)


def upsert(*rows: Row, **more: Any) -> Step:
    """Rows that are inserted or merged."""
    return Step("upsert", rows, **more)


def delete(*keys: Row, **more: Any) -> Step:
    """The write operation `delete`: keys without ordering."""
    return Step("delete", keys, **more)


def bulk_insert(*rows: Row, **more: Any) -> Step:
    """Rows for new base files."""
    return Step("bulk_insert", rows, **more)


def sql_delete(*keys: Row, **more: Any) -> Step:
    """`DELETE FROM ... WHERE` each of the keys."""
    return Step("sql_delete", keys, model="delete", **more)


def merge_into(*rows: Row, **more: Any) -> Step:
    """`MERGE INTO` that updates only the columns of these rows in the records with their keys."""
    return Step("merge_into", rows, model="nothing", **more)


def sql(statement: str, *rows: Row, model: str) -> Step:
    """Statements, separated by semicolons, that make one commit with these rows; `model` is the operation of the model."""
    return Step("sql", rows, statement=statement, model=model)


def insert_overwrite(*rows: Row, **more: Any) -> Step:
    """Rows that replace their partitions."""
    return Step("insert_overwrite", rows, **more)


def delete_partition(*partitions: Row, **more: Any) -> Step:
    """Whole partitions, given by their values."""
    return Step("delete_partition", partitions, **more)


def compact(**more: Any) -> Step:
    """Schedule and run a compaction of every slice with log files."""
    return Step("compact", model="compact", **more)


def compact_by_client(**more: Any) -> Step:
    """The same by the write client, for tables that Apache Hudi's SQL does not take."""
    return Step("client_compact", model="compact", **more)


def service(kind: str, **more: Any) -> Step:
    """A table service that changes no row."""
    return Step(kind, model="nothing", **more)


def stopped(step: Step, until: Until) -> Step:
    """A step whose writer stopped in state `until`: it changes no row."""
    return replace(step, model="nothing", until=until)


def invisible(step: Step) -> Step:
    """A step that must be invisible, because an edit makes it pending or rolls it back."""
    return replace(step, model="nothing")


@dataclass(frozen=True)
class AsOf:
    """A time-travel query to the instant of step `step`, written with 17 digits, 14 digits or as text (`style`)."""

    step: int
    style: Literal["17", "14", "text", "date", "before"] = "17"


@dataclass(frozen=True)
class Bound:
    """A point in time: the completion time of step `step`, or with `begun` its requested time."""

    step: int
    begun: bool = False

    def __str__(self) -> str:
        return f"{self.step}{'-begun' if self.begun else ''}"


@dataclass(frozen=True)
class Window:
    """A window of an incremental or change query. `error` is the reason for an error; `accept` are further right answers."""

    begin: Bound | None = None
    end: Bound | None = None
    says: str = ""
    error: str | None = None
    or_error: bool = False

    @property
    def name(self) -> str:
        """The name in reports."""
        return f"after-{self.begin or 'nothing'}-until-{self.end or 'now'}"


def windows_of(*steps: int) -> tuple[Window, ...]:
    """Windows from and up to each request and completion of a step, and windows between neighbouring times.

    `steps` are their numbers in the order of their completion.
    """
    bounds = [Bound(step, begun) for step in sorted(steps) for begun in (True, False)]
    completions = [None, *(Bound(step) for step in steps)]
    chained = [Window(begin, end) for begin, end in pairwise(completions) if begin is not None]
    return (Window(), *(Window(None, end) for end in bounds), *(Window(begin) for begin in bounds), *chained)


@dataclass(frozen=True)
class Check:
    """One query of the table, which becomes a case.

    The id of the case is `<area>.<recipe>`, or `<area>.<recipe>.<name>` if a recipe has several checks. The right answer is
    that of the model, unless `rows` (worked out by hand), `refused` or `error` is given. `read_as` are columns that are read
    with another type than they were written with. With `windows` the case is a series of queries, one for each window.
    `accept` has further right answers. With `timeline` the query is the timeline of `inspect`. `only` restricts the check
    to the tables of some producers. `flags` name the danger of a failure. With `or_rows` a refusal and the rows are both
    right, because some engines support what others must refuse. With `or_error` rows and an error are both right, for a
    damaged table that can still be read correctly.
    """

    requirements: tuple[str, ...]
    says: str
    if_it_fails: str
    name: str = ""
    kind: Literal["snapshot", "read-optimized", "as-of", "incremental", "cdc"] = "snapshot"
    as_of: AsOf | None = None
    windows: tuple[Window, ...] = ()
    columns: tuple[str, ...] | None = None
    where: tuple[tuple[str, str, Any], ...] = ()
    rows: tuple[Row, ...] | None = None
    accept: tuple[tuple[Row, ...], ...] = ()
    read_as: tuple[tuple[str, Any], ...] = ()
    timeline: bool = False
    refused: str | None = None
    or_rows: bool = False
    or_error: bool = False
    error: str | None = None
    open: bool = False
    needs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
    only: tuple[Producer, ...] | None = None

    @property
    def has_rows(self) -> bool:
        """Whether rows can be a right answer."""
        return not self.timeline and not self.windows and self.error is None and (self.refused is None or self.or_rows)


#: A function that changes files of a finished table; its arguments are the folder and the requested times of the steps.
TableEdit = Callable[[Path, Sequence[str]], None]


@dataclass(frozen=True)
class Recipe:
    """A table, the steps that make it, and the checks that query it.

    `needs` are features that every check needs in addition to those that follow from the table; `note` states a relevant fault
    of the producer; `module` is set by the catalogue; `zone` is the time zone of the machine that writes.
    """

    name: str
    area: str
    table: Table
    steps: tuple[Step, ...]
    checks: tuple[Check, ...]
    producers: tuple[Producer, ...] = BOTH
    edits: tuple[TableEdit, ...] = ()
    needs: tuple[str, ...] = ()
    note: str | None = None
    module: str = ""
    zone: str = "UTC"

    @property
    def source(self) -> str:
        """File and name of the recipe, as `producer.recipe` of a case states it."""
        return f"tools/recipes/{self.module.replace('.', '/')}.py::{self.name}"

    def case_name(self, check: Check, producer: Producer) -> str:
        """The id of a case without its area; it contains the name of the producer for all but the first producer."""
        suffix = "" if producer == self.producers[0] else SUFFIXES[producer]
        return self.name + (f".{check.name}" if check.name else "") + suffix


#: The arguments of `recipe` for the recipe; all others are for its single check.
_OF_THE_RECIPE = ("producers", "edits", "needs", "note", "zone")

#: The fields of a check whose right answer is open.
UNDECIDED: Mapping[str, Any] = {"if_it_fails": "Answers are recorded, and no engine fails.", "open": True}


def recipe(area: str, name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A recipe with `checks`, or with one check whose fields are the other keyword arguments."""
    about = {key: more.pop(key) for key in _OF_THE_RECIPE if key in more}
    checks = more.pop("checks", None) or (Check(**more),)
    return Recipe(name=name, area=area, table=table, steps=steps, checks=checks, **about)


def read_optimized(name: str = "read-optimized", **check: Any) -> Check:
    """A check of a read-optimized query."""
    return Check(name=name, kind="read-optimized", **check)


def as_of(step: int, name: str, **check: Any) -> Check:
    """A check of time travel to the instant of a step."""
    return Check(name=name, kind="as-of", as_of=AsOf(step), **check)


SUFFIXES: Mapping[Producer, str] = {
    "apache-hudi@1.0.2": ".by-hudi-1-0",
    "apache-hudi@1.2.0": ".by-hudi-1-2",
    "reference": ".by-reference",
}
