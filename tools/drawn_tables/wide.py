"""Draws tables with what `drawing` leaves out, so that its numbers keep their tables.

Added are: tables of version 6 and 8 that are upgraded, and tables that are downgraded; secondary and expression indexes; keys
in several partitions, and keys that move between partitions; rows that occur twice in a batch; writes without rows, writes of
SQL and failed writes; wider types and statements on schemas; overwritten tables; long histories; tables without meta columns.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from tools.drawn_tables.drawing import IDS, USUAL, Drawer, Drawn
from tools.drawn_tables.settings import EXTRAS, FORMATS, INDEXES, PLACINGS, RANKS, Placing
from tools.recipes.recipe import COW, MOR, Row, Step, insert, service, sql_delete, stopped, upsert

_METADATA = "hoodie.metadata."
LOCK = {
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
}
GLOBAL = {f"{_METADATA}global.record.level.index.enable": "true", "hoodie.index.type": "GLOBAL_RECORD_LEVEL_INDEX"}
#: Indexes of 1.0.2, whose settings have older names.
_RECORD_INDEX = {f"{_METADATA}record.index.enable": "true", "hoodie.index.type": "RECORD_INDEX"}
#: Apache Hudi 1.2.0 fails to maintain a secondary index beside these statistics in some tables.
_NO_STATISTICS = {f"{_METADATA}index.{name}.enable": "false" for name in ("column.stats", "partition.stats")}
MORE_INDEXES: Mapping[str, Mapping[str, str]] = {
    "secondary": {**GLOBAL, **LOCK, **_NO_STATISTICS, f"{_METADATA}index.secondary.enable": "true"},
    "expression": {**GLOBAL, **LOCK},
    "all": {**GLOBAL, **LOCK, f"{_METADATA}index.secondary.enable": "true", f"{_METADATA}index.bloom.filter.enable": "true"},
    "old-record-index": _RECORD_INDEX,
    "moving-record-index": {**GLOBAL, "hoodie.record.index.update.partition.path": "true"},
    "moving-simple": {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "true"},
    "moving-bloom": {"hoodie.index.type": "GLOBAL_BLOOM", "hoodie.bloom.index.update.partition.path": "true"},
}
CREATED: Mapping[str, tuple[str, ...]] = {
    "secondary": ("CREATE INDEX of_b ON {table} (b)",),
    "expression": ("CREATE INDEX of_n ON {table} USING column_stats(n) OPTIONS (expr='identity')",
                   "CREATE INDEX of_a ON {table} USING bloom_filters(a) OPTIONS (expr='upper')"),
    "all": ("CREATE INDEX of_b ON {table} (b)", "CREATE INDEX of_n ON {table} (n)"),
}  # fmt: skip
MORE_FORMATS: Mapping[str, Mapping[str, str]] = {
    "no-meta-columns": {"hoodie.populate.meta.fields": "false", "hoodie.index.type": "SIMPLE"},
    "hfile": {"hoodie.table.base.file.format": "HFILE", "hoodie.base.file.format": "HFILE"},
    "snappy-pages": {"hoodie.parquet.page.size": "120", "hoodie.parquet.dictionary.enabled": "false"},
}
MORE_PLACINGS: Mapping[str, Placing] = {
    "dropped": Placing(partition=("p",), types={"p": "string"}, values=(("x",), ("y-1",)),
                       options={"hoodie.datasource.write.drop.partition.columns": "true"}),
    "three-levels": Placing(partition=("p", "q", "r"), types={"p": "string", "q": "int", "r": "boolean"},
                            values=(("x", 1, True), ("x", 1, False), ("y", 2, True))),
    "numeric-texts": Placing(partition=("p",), types={"p": "string"}, values=(("01",), ("1",), ("1.0",))),
    "date-texts": Placing(partition=("p",), types={"p": "string"}, values=(("2026-01-01",), ("2026-12-31",))),
    "int-key": Placing(key=("k", "id"), partition=("p",), types={"k": "int", "p": "string"}, values=((1, "x"), (2, "y"))),
}  # fmt: skip
_DAYS = (date(1900, 1, 1), date(1969, 12, 31), date(9999, 12, 31), None)
_INNER = {"type": "record", "fields": (("t", "timestamp-micros"), ("f", "float"))}
_TIMES = (datetime(1900, 1, 1, tzinfo=UTC), datetime(2038, 1, 19, 3, 14, 8, 999999, tzinfo=UTC), None)
MORE_EXTRAS: Mapping[str, tuple[Any, tuple[Any, ...]]] = {
    "d_old": ("date", _DAYS),
    "d_times": ("timestamp-micros", _TIMES),
    "d_text": ("string", ("x" * 200, "", "\x00", "\ud7ff\U0001f600", "null", None)),
    "d_wide": ("decimal(38,18)", (Decimal("12345678901234567890.123456789012345678"), Decimal(0), None)),
    "d_nested": ({"type": "record", "fields": (("m", {"type": "map", "values": {"type": "array", "items": "int"}}),
                                               ("r", _INNER))},
                 ({"m": {"k": [1, 2]}, "r": {"t": _TIMES[1], "f": 0.5}}, {"m": None, "r": None}, None)),
    "d_maps": ({"type": "array", "items": {"type": "map", "values": "string"}}, ([{"a": "b"}, {}], [], None)),
    "d_decimals": ({"type": "array", "items": "decimal(9,3)"}, ([Decimal("1.250")], [], None)),
    "d_arrays": ({"type": "array", "items": {"type": "array", "items": "boolean"}}, ([[True], []], None)),
}  # fmt: skip

_AT_6, _AT_8 = ({"hoodie.write.table.version": one, "hoodie.write.auto.upgrade": "false"} for one in "68")
UPGRADE = {"hoodie.write.table.version": "9", "hoodie.write.auto.upgrade": "true"}
#: By name: settings of the first writes, and whether 1.0.2 makes them.
STARTS: Mapping[str, tuple[Mapping[str, str], bool]] = {
    "9": ({}, False), "8": (_AT_8, False), "6": (_AT_6, False), "8-by-1.0.2": (_AT_8, True), "6-by-1.0.2": (_AT_6, True),
    "9-to-8": ({}, False),
}  # fmt: skip
#: The axes of a table, from which its number selects; the others are drawn.
FIXED: Sequence[dict[str, str]] = (
    *({"index": name} for name in MORE_INDEXES),
    *({"start": name} for name in STARTS if name != "9"),
    *({"format": name} for name in MORE_FORMATS),
    *({"placing": name} for name in MORE_PLACINGS),
    {"places": "several"}, {"places": "several", "index": "partitioned-record-index"}, {"creator": "sql"},
    {"creator": "sql", "index": "secondary"}, {"length": "long"}, {"length": "long", "index": "default"}, {"schema": "widened"},
    {"schema": "altered"}, {"start": "8", "index": "old-record-index"}, {"start": "8-by-1.0.2", "index": "old-record-index"},
    {"capture": "data-before-after", "length": "long"}, {"capture": "op-key-only"}, {"start": "9-to-8", "index": "secondary"},
)  # fmt: skip
#: Mergings that versions 6 and 8 have too, and that 1.0.2 merges as 1.2.0 does.
_OLD_MERGINGS = ("event-long", "event-string", "event-date", "commit", "class-default", "class-event-time", "class-overwrite")
_MOVING = ("event-long", "commit")


def draw_wide(number: int, seed: int = 1) -> Drawn:
    """The table of this number."""
    rng = random.Random(f"wide-{seed}-{number}")
    axes = {name: rng.choice(usual) for name, usual in USUAL.items()} | {"start": "9", "places": "fixed", "creator": "frame",
            "length": "short", "schema": "grown"} | FIXED[number % len(FIXED)]  # fmt: skip
    if axes["start"] != "9":
        axes["merging"] = rng.choice(_OLD_MERGINGS)
    if axes["index"].startswith("moving"):
        axes |= {"merging": rng.choice(_MOVING), "places": "moving", "placing": "text"}
    elif axes["index"] in CREATED or axes["creator"] == "sql" or axes["schema"] == "altered":
        axes |= {"merging": rng.choice(_MOVING), "placing": rng.choice(("none", "hive"))}
    if axes["places"] == "several":
        axes["placing"] = rng.choice(("text", "hive", "two-levels"))
    if axes["format"] == "no-meta-columns":
        axes |= {"merging": "event-long", "index": "no-metadata"}
    if axes["length"] == "long":
        axes["service"] = rng.choice(("archiving", "inline-cleaning", "inline-compaction"))
    axes["type"] = rng.choice((COW, MOR, MOR))
    if axes["type"] == COW and "compaction" in axes["service"]:
        axes["service"] = "inline-clustering"
    return WideDrawer(rng, number, seed, axes).drawn()


class WideDrawer(Drawer):
    """The choices for one table."""

    known_extras: Mapping[str, Any] = {**EXTRAS, **MORE_EXTRAS}
    known_placings: Mapping[str, Placing] = {**PLACINGS, **MORE_PLACINGS}

    def drawn(self) -> Drawn:
        """The table with its steps."""
        found = super().drawn()
        return replace(found, renames=dict(self.renames), moves=self.axes["places"] == "moving")

    def prepare(self) -> None:
        """What the steps depend on."""
        self.renames: dict[str, str] = {}
        self.wider: dict[str, str] = {}

    def _options(self) -> dict[str, str]:
        usual = super()._options()
        schema = {"hoodie.schema.on.read.enable": "true"} if self.axes["schema"] == "altered" else {}
        return usual | schema | dict(STARTS[self.axes["start"]][0])

    def index_options(self) -> Mapping[str, str]:
        """The settings of the indexes."""
        return {**INDEXES, **MORE_INDEXES}[self.axes["index"]]

    def format_options(self) -> Mapping[str, str]:
        """The settings of the files."""
        return {**FORMATS, **MORE_FORMATS}[self.axes["format"]]

    def _row(self, key: str, *, deleted: bool = False) -> Row:
        if self.axes["places"] != "fixed":
            self.place_of |= {key: self.rng.choice(self.placing.values)}
        return {self.renames.get(name, name): value for name, value in super()._row(key, deleted=deleted).items()}

    def _batch(self, keys: Sequence[str]) -> list[Row]:
        """Rows of these keys; one of them may occur twice, with ordering values that differ."""
        rows: list[dict[str, Any]] = [dict(self._row(key)) for key in keys]
        names = list(self.merging.ordering)
        if self.rng.random() < 0.2 and len(names) == 1 and self.merging.compared and not self.merging.partial:
            again = {**self._row(keys[0]), **{name: rows[0][name] for name in self.placing.types}}
            ranks = RANKS[self.merging.ordering[names[0]]]
            rows[0][names[0]], again[names[0]] = self.rng.sample(ranks, 2)
            rows.append(again)
        return list(rows)

    def _steps(self) -> list[Step]:
        start = self.axes["start"]
        steps = super()._steps()
        if self.axes["creator"] == "sql":
            steps[0] = Step("sql_insert", steps[0].rows, steps[0].options, model="insert")
        if self.axes["index"] in CREATED:
            made = [Step("create_index", statement=one, model="nothing") for one in CREATED[self.axes["index"]]]
            steps[1:1] = made
            steps = [step if step.of is None else replace(step, of=step.of + len(made)) for step in steps]
        if self.axes["length"] == "long":
            for _ in range(self.rng.randint(4, 8)):
                steps += self._step(len(steps))
        if start == "9-to-8":
            steps += [service("downgrade")]
        elif start != "9":
            steps += [replace(step, options={**step.options, **UPGRADE}) for step in self._do_upsert(len(steps))]
        for _ in range(2 if start != "9" else 1):
            steps += self._step(len(steps))
        return steps

    def _step(self, number: int) -> list[Step]:
        added = ["twice", "nothing", "fail", "overwrite_all", "sql_update", "sql_delete", "plan_clustering"]
        added += {"widened": ["widen"] * 6, "altered": ["alter"] * 6}.get(self.axes["schema"], [])
        added += ["sql_insert"] * 3 if self.axes["creator"] == "sql" else []
        if self.axes["places"] == "moving":
            return list(
                getattr(self, f"_do_{self.rng.choice(('upsert', 'upsert', 'twice', 'clean', 'compact_or_not'))}")(number)
            )
        if self.rng.random() < 0.4:
            return list(getattr(self, f"_do_{self.rng.choice(added)}")(number))
        return super()._step(number)

    def _do_compact_or_not(self, number: int) -> Sequence[Step]:
        return self._do_compact(number) if self.axes["type"] == MOR else self._do_upsert(number)

    def _do_delete(self, number: int) -> Sequence[Step]:
        return self._do_upsert(number) if self.axes["places"] == "moving" else super()._do_delete(number)

    def _do_twice(self, number: int) -> Sequence[Step]:
        keys = self._keys()
        self.known |= set(keys)
        return [upsert(*self._batch(keys), columns=self._grown())]

    def _do_nothing(self, number: int) -> Sequence[Step]:
        return [upsert(columns=self._grown())]

    def _do_fail(self, number: int) -> Sequence[Step]:
        until = self.rng.choice(("requested", "begun", "inflight"))
        failing = [stopped(step, until) for step in self._do_upsert(number)]  # type: ignore[arg-type]
        return [*failing, *self._do_upsert(number)]

    def _do_overwrite_all(self, number: int) -> Sequence[Step]:
        self.known = set(IDS)
        return [Step("insert_overwrite_table", tuple(self._row(key) for key in self._keys(2)), columns=self._grown())]

    def _can_name(self) -> bool:
        """Whether SQL can name a record by its key and partition, and the table has no payload class."""
        kinds = set(self.placing.types.values())
        return kinds <= {"string", "int"} and "class" not in self.axes["merging"] and len(self.merging.ordering) < 2

    def _do_sql_update(self, number: int) -> Sequence[Step]:
        if (
            not self._can_name()
            or self.axes["merging"].startswith("marker")
            or self.renames
            or self.axes["places"] == "several"
        ):
            return self._do_upsert(number)
        row = {**self._location(self.rng.choice(IDS)), "b": f"updated-{number}"}
        condition = " AND ".join(f"{name} = {value!r}" for name, value in row.items() if name != "b")
        return [
            Step("sql", (row,), statement=f"UPDATE {{table}} SET b = '{row['b']}' WHERE {condition}", model="partial_update")
        ]

    def _do_sql_delete(self, number: int) -> Sequence[Step]:
        if not self._can_name() or "null" in self.axes["placing"]:
            return self._do_delete(number)
        return [sql_delete(self._location(self.rng.choice(IDS)))]

    def _do_plan_clustering(self, number: int) -> Sequence[Step]:
        return [service("schedule_clustering")]

    def _do_sql_insert(self, number: int) -> Sequence[Step]:
        return [replace(step, kind="sql_insert", model=step.kind) if step.kind == "insert" else step
                for step in self._of_new_keys(insert)]  # fmt: skip

    def _do_widen(self, number: int) -> Sequence[Step]:
        self.wider |= {"n": "long", "c_float": "double"}
        return self._do_upsert(number)

    def _do_alter(self, number: int) -> Sequence[Step]:
        """A statement on the schema, then a write with the new one."""
        if self.renames and "n" in self.wider:
            return self._do_upsert(number)
        if "n" not in self.wider:
            self.wider["n"] = "long"
            statement = "ALTER TABLE {table} ALTER COLUMN n TYPE bigint"
        else:
            self.renames["a"] = "a_renamed"
            statement = "ALTER TABLE {table} RENAME COLUMN a TO a_renamed"
        columns = self._grown()
        return [Step("sql", statement=statement, model="nothing", columns=columns), *self._do_upsert(number)]

    def _grown(self) -> tuple[tuple[str, Any], ...] | None:
        if not (self.evolved or self.wider or self.renames):
            return None
        usual = (*self._columns(), *self.evolved)
        return tuple((self.renames.get(name, name), self.wider.get(name, kind)) for name, kind in usual)
