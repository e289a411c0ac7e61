"""Draws tables with what `wide` leaves out, so that its numbers keep their tables.

Added are: payload classes beside a strategy id or the mode CUSTOM, and mergers of the bundle that the writer names; ordering
fields, record keys and partition fields inside records (`m.ts`); four ordering fields of different types; non-blocking writers,
whose writes complete in another order than they began.

A step `begin` starts a write, which waits before it stores anything; a step `finish` ends it. Between them are other steps.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tools.drawn_tables.drawing import USUAL, Drawn
from tools.drawn_tables.settings import INDEXES, MERGINGS, PACKAGE, Merging, Placing
from tools.drawn_tables.wide import LOCK, WideDrawer
from tools.recipes.recipe import COW, MOR, Row, Step

_MODE, _ID, _CLASS, _MERGERS = (
    "hoodie.write.record.merge.mode", "hoodie.write.record.merge.strategy.id", "hoodie.datasource.write.payload.class",
    "hoodie.write.record.merge.custom.implementation.classes",
)  # fmt: skip
#: The strategy ids of payload classes, of custom mergers by convention, and of the merger that refuses to merge.
PAYLOADS, CONVENTION = "00000000-0000-0000-0000-000000000000", "1897ef5f-18bc-4557-939c-9d6a8afd1519"
REFUSES = "fb092649-0fdc-4c14-9113-acde3034a6c4"
#: Records of Spark are written to log blocks of Parquet alone.
_OF_SPARK = {"hoodie.logfile.data.block.format": "parquet"}


def _with(name: str, strategy: str, mode: str | None = None) -> Merging:
    """The merging of a payload class, asked for with a strategy id and a mode too."""
    known = MERGINGS[name]
    given = {_ID: strategy} | ({} if mode is None else {_MODE: mode})
    return replace(known, options={**known.options, **given})


MORE_MERGINGS: Mapping[str, Merging] = {
    "class-avro-given": _with("class-avro", PAYLOADS, "CUSTOM"),
    "class-default-with-id": _with("class-default", CONVENTION),
    "class-default-custom": _with("class-default", PAYLOADS, "CUSTOM"),
    "class-partial-with-id": _with("class-partial", PAYLOADS, "CUSTOM"),
    "class-non-defaults-with-id": _with("class-non-defaults", CONVENTION, "CUSTOM"),
    "class-postgres-with-id": _with("class-postgres", PAYLOADS),
    "class-dms-with-id": _with("class-dms", PAYLOADS, "CUSTOM"),
    "class-mysql-with-mode": _with("class-mysql", PAYLOADS, "COMMIT_TIME_ORDERING"),
    "merger-event": Merging({"ts": "long"}, lasting={_MERGERS: "org.apache.hudi.DefaultSparkRecordMerger", **_OF_SPARK}),
    "merger-commit": Merging(lasting={_MERGERS: "org.apache.hudi.OverwriteWithLatestSparkRecordMerger", **_OF_SPARK}),
    "merger-avro": Merging({"ts": "long"}, lasting={_MERGERS: f"{PACKAGE}HoodieAvroRecordMerger"}),
    "merger-two-fields": Merging(
        {"ts": "string", "seq": "int"}, lasting={_MERGERS: "org.apache.hudi.DefaultSparkRecordMerger", **_OF_SPARK}
    ),
    "nested": Merging({"m.ts": "long"}),
    "nested-text": Merging({"m.ts": "string"}),
    "nested-two": Merging({"m.ts": "int", "m.day": "date"}),
    "nested-and-plain": Merging({"seq": "int", "m.ts": "decimal(10,2)", "day": "date"}),
    "nested-deep": Merging({"m.of.ts": "timestamp-micros"}),
    "four-fields": Merging({"ts": "double", "day": "date", "seq": "decimal(10,2)", "at": "timestamp-micros"}),
    "four-others": Merging({"at": "float", "seq": "long", "name": "string", "ts": "int"}),
}  # fmt: skip
NESTED_PLACINGS: Mapping[str, Placing] = {
    "nested-key": Placing(key=("k.id",), partition=("p",), types={"k.id": "string", "p": "string"},
                          values=(("", "x"), ("", "y-1"))),
    "nested-keys": Placing(key=("id", "k.n"), types={"k.n": "int"}, values=((1,), (2,))),
    "nested-partition": Placing(partition=("q.p",), types={"q.p": "string"}, values=(("x",), ("y-1",))),
    "nested-partitions": Placing(partition=("q.p", "r"), types={"q.p": "string", "r": "int"}, values=(("x", 1), ("y", 2)),
                                 options={"hoodie.datasource.write.hive_style_partitioning": "true"}),
}  # fmt: skip
NON_BLOCKING = {
    **LOCK,
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.table.type": MOR,
}
#: Steps on tables with non-blocking writers, which neither overwrite partitions nor cluster.
_BESIDE = ("upsert", "upsert", "flagged", "delete", "compact", "log_compact", "planned", "clean", "insert", "evolve", "merge",
           "twice", "nothing")  # fmt: skip
_WRITERS = ("event-long", "commit", "two-fields", "class-partial", "marker", "nested", "event-string")
FIXED: Sequence[dict[str, str]] = (
    *({"merging": name} for name in MORE_MERGINGS),
    *({"placing": name} for name in NESTED_PLACINGS),
    *({"writers": "non-blocking", "merging": name} for name in _WRITERS),
    {"writers": "non-blocking", "placing": "nested-key"}, {"writers": "non-blocking", "placing": "nested-partition"},
    {"writers": "non-blocking", "capture": "data-before-after"},
)  # fmt: skip


def draw_further(number: int, seed: int = 1) -> Drawn:
    """The table of this number."""
    rng = random.Random(f"further-{seed}-{number}")
    axes = {name: rng.choice(usual) for name, usual in USUAL.items()} | {"start": "9", "places": "fixed", "creator": "frame",
            "length": "short", "schema": "grown", "writers": "one"} | FIXED[number % len(FIXED)]  # fmt: skip
    axes["type"] = rng.choice((COW, MOR, MOR))
    if axes["writers"] != "one":
        axes |= {"type": MOR, "index": rng.choice(("buckets", "buckets-no-metadata")), "format": "default"}
        axes["service"] = rng.choice(("none", "none", "inline-compaction", "inline-cleaning"))
    if axes["type"] == COW and "compaction" in axes["service"]:
        axes["service"] = "inline-clustering"
    return FurtherDrawer(rng, number, seed, axes).drawn()


class FurtherDrawer(WideDrawer):
    """The choices for one table. Names such as `m.ts` are those of fields of records, also in the rows until the end."""

    known_placings: Mapping[str, Placing] = {**WideDrawer.known_placings, **NESTED_PLACINGS}
    known_mergings: Mapping[str, Merging] = {**MERGINGS, **MORE_MERGINGS}

    def prepare(self) -> None:
        """Keys inside a record are unique."""
        super().prepare()
        self.pending: set[str] = set()
        if "k.id" in self.placing.types:
            self.place_of = {key: (key, *place[1:]) for key, place in self.place_of.items()}

    @property
    def _is_nested(self) -> bool:
        return any("." in name for name in (*self.placing.types, *self.merging.ordering))

    def _options(self) -> dict[str, str]:
        return super()._options() | (NON_BLOCKING if self.axes["writers"] != "one" else {}) | dict(self.merging.lasting)

    def index_options(self) -> Mapping[str, str]:
        """The settings of the indexes."""
        if self.axes["index"] == "buckets-no-metadata":
            return {**INDEXES["buckets"], **INDEXES["no-metadata"]}
        return super().index_options()

    def _columns(self) -> tuple[tuple[str, Any], ...]:
        return tuple((name, _type_of(kind)) for name, kind in folded(dict(super()._columns())).items())

    def _steps(self) -> list[Step]:
        steps = super()._steps()
        if self.axes["writers"] != "one":
            for _ in range(self.rng.randint(1, 2)):
                steps += self._overlapping(len(steps))
            steps += self._step(len(steps))
        return [replace(step, rows=tuple(folded(row) for row in step.rows)) for step in steps]

    def _step(self, number: int) -> list[Step]:
        if self.axes["writers"] == "one":
            return super()._step(number)
        return list(getattr(self, f"_do_{self.rng.choice(_BESIDE)}")(number))

    def _overlapping(self, number: int) -> list[Step]:
        """A write, during which other steps are taken."""
        (slow,) = self._do_upsert(number)
        self.pending = {str(row["id"]) for row in slow.rows}
        steps = [replace(slow, kind="begin", model="nothing")]
        for does in self.rng.choices(("upsert", "upsert", "flagged", "delete", "compact", "planned"), k=self.rng.randint(1, 3)):
            steps += getattr(self, f"_do_{does}")(number + len(steps))
        self.pending = set()
        return [*steps, replace(slow, kind="finish", of=number, model="upsert")]

    def _do_delete(self, number: int) -> Sequence[Step]:
        """Deletes of keys that no pending write has: in a bucket without a file group they would write nothing."""
        (step,) = super()._do_delete(number)
        rows = tuple(row for row in step.rows if row["id"] not in self.pending)
        return [replace(step, rows=rows)] if rows else self._do_upsert(number)

    def _do_merge(self, number: int) -> Sequence[Step]:
        return self._do_upsert(number) if self._is_nested else super()._do_merge(number)

    def _do_drop(self, number: int) -> Sequence[Step]:
        return self._do_upsert(number) if self._is_nested else super()._do_drop(number)

    def _can_name(self) -> bool:
        return not self._is_nested and super()._can_name()

    def _batch(self, keys: Sequence[str]) -> list[Row]:
        return [self._row(key) for key in keys] if self._is_nested else super()._batch(keys)


def folded(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with records for names such as `m.ts`, at the place of the first of them."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        *records, last = name.split(".")
        inner = found
        for record in records:
            inner = inner.setdefault(record, {})
        inner[last] = value
    return found


def _type_of(kind: Any) -> Any:
    """The type of a column that may be a record of types by name."""
    if not isinstance(kind, Mapping) or "type" in kind:
        return kind
    return {"type": "record", "fields": tuple((name, _type_of(inner)) for name, inner in kind.items())}
