"""Draws a table of version 9 and the steps on it from a number; a number always gives the same table."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tools.drawn_tables.settings import (
    CAPTURES,
    EXTRAS,
    FORMATS,
    INDEXES,
    MERGINGS,
    PLACINGS,
    RANKS,
    SERVICES,
    UNAVAILABLE,
    Merging,
    Placing,
)  # fmt: skip
from tools.recipes.recipe import (
    COW,
    HUDI_1_2,
    MOR,
    Recipe,
    Row,
    Step,
    Table,
    bulk_insert,
    compact_by_client,
    delete,
    delete_partition,
    insert,
    insert_overwrite,
    merge_into,
    service,
    upsert,
)  # fmt: skip

IDS = ("a", "b", "c", "d:1", "e,f", "ü")
TEXTS = ("plain", "", None, "$\\", "Ω")


@dataclass(frozen=True)
class Drawn:
    """A recipe and what it was drawn from."""

    recipe: Recipe
    merging: Merging
    axes: dict[str, str]
    flagged: bool
    #: The later names of columns, and whether a record moves to the partition of its newest row.
    renames: Mapping[str, str] = field(default_factory=dict)
    moves: bool = False

    @property
    def columns(self) -> tuple[tuple[str, Any], ...]:
        """The columns of the latest schema."""
        return ([step.columns for step in self.recipe.steps if step.columns] or [self.recipe.table.columns])[-1]

    def columns_after(self, done: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, Any], ...]:
        """The columns of the latest schema that a step brought which did not fail."""
        taken = [step.columns for step, one in zip(self.recipe.steps, done, strict=False) if step.columns and not one["error"]]
        return (taken or [self.recipe.table.columns])[-1]


#: Tables that are drawn more often than chance would: what their numbers modulo the length fix.
FIXED: Sequence[dict[str, str]] = (
    *({"merging": name} for name in MERGINGS),
    *({"placing": name} for name in PLACINGS),
    *({"index": name} for name in INDEXES),
    *({"format": name} for name in FORMATS),
    *({"service": name} for name in SERVICES),
    *({"capture": name} for name in CAPTURES),
    *({"plain": "yes"} for _ in range(6)),
)
USUAL = {
    "merging": ("event-long", "event-long", "commit", "two-fields", "class-partial", "marker"),
    "placing": ("none", "text", "text", "hive", "two-levels"),
    "index": ("default", "no-metadata", "no-metadata", "no-metadata", "no-metadata"),
    "format": ("default", "small-groups", "small-groups"),
    "service": ("none", "none", "none", "inline-compaction", "inline-cleaning"),
    "capture": ("none", "none", "none", "data-before-after"),
}


def draw(number: int, seed: int = 1) -> Drawn:
    """The table of this number."""
    rng = random.Random(f"{seed}-{number}")
    axes = {name: rng.choice(usual) for name, usual in USUAL.items()} | FIXED[number % len(FIXED)]
    axes["type"] = rng.choice((COW, MOR, MOR)) if number // len(FIXED) % 2 else (MOR, COW)[number % 2]
    if {axes["format"], axes["index"]} & {"parquet-blocks", "positions", "consistent-buckets"}:
        axes["type"] = MOR
    if axes["type"] == COW and "compaction" in axes["service"]:
        axes["service"] = "inline-clustering"
    return Drawer(rng, number, seed, axes).drawn()


class Drawer:
    """The choices for one table."""

    known_extras: Mapping[str, Any] = EXTRAS
    known_placings: Mapping[str, Placing] = PLACINGS
    known_mergings: Mapping[str, Merging] = MERGINGS

    def __init__(self, rng: random.Random, number: int, seed: int, axes: dict[str, str]) -> None:
        self.rng, self.axes, self.number, self.seed = rng, axes, number, seed
        self.merging, self.placing = self.known_mergings[axes["merging"]], self.known_placings[axes["placing"]]
        self.flagged = self.merging.marker is None and rng.random() < 0.6
        self.extras = rng.sample(sorted(self.known_extras), rng.choice((0, 1, 1, 2, 4)))
        self.place_of: dict[str, tuple[Any, ...]] = {key: rng.choice(self.placing.values) for key in IDS}
        self.known: set[str] = set()
        self.serial = 0
        self.evolved: tuple[tuple[str, Any], ...] = ()
        self.prepare()

    def prepare(self) -> None:
        """What the steps depend on, beside the fields above."""

    def drawn(self) -> Drawn:
        """The table with its steps."""
        table = Table(
            columns=self._columns(), type=self.axes["type"], record_key=self.placing.key,  # type: ignore[arg-type]
            partition=self.placing.partition, ordering=tuple(self.merging.ordering), merge_mode=self._given_mode(),
            options=self._options(), version=9,
        )  # fmt: skip
        recipe = Recipe(f"drawn.{self.seed}.{self.number}", "queries", table, tuple(self._steps()), (), producers=(HUDI_1_2,))
        return Drawn(recipe, self.merging, self.axes, self.flagged)

    def _given_mode(self) -> Any:
        return self.merging.mode if "payload.class" not in str(self.merging.options) else None

    def _options(self) -> dict[str, str]:
        capture = CAPTURES[self.axes["capture"]]
        return {
            "hoodie.metadata.enable": "true", **self.format_options(), **SERVICES[self.axes["service"]],
            **self.index_options(), **capture, **self.placing.options,
        }  # fmt: skip

    def index_options(self) -> Mapping[str, str]:
        """The settings of the indexes."""
        return INDEXES[self.axes["index"]]

    def format_options(self) -> Mapping[str, str]:
        """The settings of the files."""
        return FORMATS[self.axes["format"]]

    def _columns(self) -> tuple[tuple[str, Any], ...]:
        found: dict[str, Any] = {"id": "string", **self.placing.types, **self.merging.ordering}
        found |= {"a": "string", "b": "string", "n": "int"} | {name: self.known_extras[name][0] for name in self.extras}
        if self.merging.marker is not None:
            found[self.merging.marker[0]] = "string"
        if self.flagged:
            found["_hoodie_is_deleted"] = "boolean"
        return tuple(found.items())

    def _row(self, key: str, *, deleted: bool = False) -> Row:
        """A row with the next number as `n`, and ordering values of a drawn rank."""
        self.serial += 1
        rank = self.rng.randrange(4)
        row: dict[str, Any] = {"id": key, **dict(zip(self.placing.types, self.place_of[key], strict=True))}
        for place, (name, kind) in enumerate(self.merging.ordering.items()):
            row[name] = RANKS[kind][(rank if place == 0 else self.rng.randrange(4)) if len(self.merging.ordering) < 2
                                    else self.rng.randrange(1, 3)]  # fmt: skip
        texts = (*TEXTS, UNAVAILABLE) if self.merging.partial else TEXTS
        row |= {"a": self.rng.choice(texts), "b": f"v{self.serial}", "n": self.rng.choice((self.serial, None, 0))}
        row |= {name: self.rng.choice(self.known_extras[name][1]) for name in self.extras}
        row |= {name: self.serial for name, _ in self.evolved}
        if self.merging.marker is not None:
            row[self.merging.marker[0]] = self.merging.marker[1] if deleted else self.rng.choice(("u", "c", "i"))
        if self.flagged:
            row["_hoodie_is_deleted"] = deleted or self.rng.choice((False, None))
        return row

    def _keys(self, most: int = 4) -> list[str]:
        return self.rng.sample(IDS, self.rng.randint(1, most))

    def _location(self, key: str) -> Row:
        return {"id": key, **dict(zip(self.placing.types, self.place_of[key], strict=True))}

    def _steps(self) -> list[Step]:
        first = self.rng.choice((upsert, insert, bulk_insert))
        keys = IDS[: self.rng.choice((3, 4, 5))]
        self.known = set(keys)
        steps = [replace(first(*(self._row(key) for key in keys)), options=self.merging.options)]
        for does in ("upsert", self.rng.choice(("flagged", "delete", "upsert"))):
            steps += getattr(self, f"_do_{does}")(len(steps))
        for _ in range(self.rng.randint(1, 3)):
            steps += self._step(len(steps))
        return steps

    def _step(self, number: int) -> list[Step]:
        actions = ["upsert"] * 6 + ["flagged"] * 3 + ["delete", "delete", "insert", "bulk_insert", "merge", "overwrite"]
        actions += ["drop", "cluster", "clean", "rollback", "savepoint", "evolve"]
        actions += ["compact", "compact", "log_compact", "planned"] if self.axes["type"] == MOR else []
        does = self.rng.choice(actions)
        if "plain" in self.axes and does in ("rollback", "savepoint", "evolve", "overwrite"):
            does = "upsert"
        return list(getattr(self, f"_do_{does}")(number))

    def _do_upsert(self, number: int) -> Sequence[Step]:
        keys = self._keys()
        self.known |= set(keys)
        return [upsert(*(self._row(key) for key in keys), columns=self._grown())]

    def _do_flagged(self, number: int) -> Sequence[Step]:
        if not self.flagged and self.merging.marker is None:
            return self._do_upsert(number)
        return [upsert(*(self._row(key, deleted=place < 2) for place, key in enumerate(self._keys())), columns=self._grown())]

    def _do_delete(self, number: int) -> Sequence[Step]:
        return [delete(*(self._location(key) for key in self._keys(2)))]

    def _do_insert(self, number: int) -> Sequence[Step]:
        return self._of_new_keys(insert)

    def _do_bulk_insert(self, number: int) -> Sequence[Step]:
        return self._of_new_keys(bulk_insert)

    def _of_new_keys(self, write: Any) -> Sequence[Step]:
        keys = [key for key in IDS if key not in self.known][:2]
        if not keys:
            return self._do_upsert(0)
        self.known |= set(keys)
        return [write(*(self._row(key) for key in keys), columns=self._grown())]

    def _do_merge(self, number: int) -> Sequence[Step]:
        if len(self.merging.ordering) > 1 or "class" in self.axes["merging"]:
            return self._do_upsert(number)
        names = {"id", *self.placing.types, *self.merging.ordering, self.rng.choice("abn")}
        rows = [{name: value for name, value in self._row(key).items() if name in names} for key in self._keys(2)]
        return [replace(merge_into(*rows), model="partial_update")]

    def _do_overwrite(self, number: int) -> Sequence[Step]:
        if not self.placing.partition:
            return self._do_upsert(number)
        keys = self._keys(2)
        self.known = set(IDS)  # which keys are left is not tracked: no further inserts
        return [insert_overwrite(*(self._row(key) for key in keys), columns=self._grown())]

    def _do_drop(self, number: int) -> Sequence[Step]:
        if self.axes["placing"] not in ("text", "int", "two-levels", "two-levels-hive", "date-hive"):
            return self._do_upsert(number)
        names = [name.partition(":")[0] for name in self.placing.partition]
        place = self._location(self.rng.choice(IDS))
        self.known = set(IDS)
        return [delete_partition({name: place[name] for name in names})]

    def _do_compact(self, number: int) -> Sequence[Step]:
        return [compact_by_client()]

    def _do_log_compact(self, number: int) -> Sequence[Step]:
        return [service("log_compact", options={"hoodie.log.compaction.enable": "true",
                                                "hoodie.log.compaction.blocks.threshold": "2"})]  # fmt: skip

    def _do_planned(self, number: int) -> Sequence[Step]:
        return [service("schedule_compaction")]

    def _do_cluster(self, number: int) -> Sequence[Step]:
        return [Step("cluster", model="compact")]

    def _do_clean(self, number: int) -> Sequence[Step]:
        return [service("clean")]

    def _do_rollback(self, number: int) -> Sequence[Step]:
        write = self._do_upsert(number)
        return [*write, service("rollback", of=number)]

    def _do_savepoint(self, number: int) -> Sequence[Step]:
        first, last = self._do_upsert(number), self._do_upsert(number)
        return [*first, service("savepoint", of=number), *last, service("restore", of=number), *self._do_upsert(number)]

    def _do_evolve(self, number: int) -> Sequence[Step]:
        self.evolved = (*self.evolved, (f"added_{len(self.evolved)}", "int"))
        return self._do_upsert(number)

    def _grown(self) -> tuple[tuple[str, Any], ...] | None:
        return (*self._columns(), *self.evolved) if self.evolved else None
