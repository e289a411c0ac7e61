"""Draws tables whose writes name other indexes than the writes before them.

A write creates, maintains or drops an index of the metadata table by its settings alone: statistics of all columns or of some,
bloom filters, the record index, a secondary index, or the whole metadata table. Queries with filters show whether an answer
depends on an index that lacks rows.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tools.drawn_tables.drawing import USUAL, Drawn
from tools.drawn_tables.wide import WideDrawer
from tools.recipes.recipe import COW, MOR, Step

from hudi_conformance.contract import Query

_METADATA = "hoodie.metadata."
_STATISTICS = f"{_METADATA}index.column.stats."
#: The steps that are writes of rows by a data frame, which have settings of their own.
_WRITES = ("upsert", "insert", "bulk_insert", "delete", "insert_overwrite", "insert_overwrite_table")


def draw_changing(number: int, seed: int = 1) -> Drawn:
    """The table of this number."""
    rng = random.Random(f"changing-{seed}-{number}")
    axes = {name: rng.choice(usual) for name, usual in USUAL.items()} | {
        "start": "9", "places": "fixed", "creator": "frame", "length": "short", "schema": "grown", "index": "changing",
        "merging": rng.choice(("event-long", "commit")), "placing": rng.choice(("none", "text", "hive")),
        "format": rng.choice(("default", "small-groups")),
        "service": rng.choice(("none", "inline-compaction", "inline-clustering", "inline-cleaning", "archiving")),
        "type": rng.choice((COW, MOR)),
    }  # fmt: skip
    if axes["type"] == COW and "compaction" in axes["service"]:
        axes["service"] = "inline-clustering"
    return ChangingDrawer(rng, number, seed, axes).drawn()


class ChangingDrawer(WideDrawer):
    """The choices for one table."""

    def prepare(self) -> None:
        """Some tables have no record index, on which a secondary index depends."""
        super().prepare()
        self.has_record_index, self.has_secondary = self.rng.random() < 0.6, self.rng.random() < 0.6

    def index_options(self) -> Mapping[str, str]:
        """The settings of all writes: each write adds its own."""
        return {f"{_METADATA}compact.max.delta.commits": self.rng.choice(("2", "4", "10"))}

    def _steps(self) -> list[Step]:
        return [
            replace(step, options={**step.options, **self._indexes_of_a_write()}) if step.kind in _WRITES else step
            for step in super()._steps()
        ]

    def _indexes_of_a_write(self) -> dict[str, str]:
        rng, found = self.rng, dict[str, str]()
        record_index = self.has_record_index and rng.random() < 0.85
        switches = {
            f"{_METADATA}enable": rng.random() < 0.92,
            f"{_STATISTICS}enable": rng.random() < 0.67,
            f"{_METADATA}index.partition.stats.enable": rng.random() < 0.75,
            f"{_METADATA}index.bloom.filter.enable": rng.random() < 0.5,
            f"{_METADATA}global.record.level.index.enable": record_index,
            f"{_METADATA}index.secondary.enable": record_index and self.has_secondary and rng.random() < 0.7,
        }
        found |= {name: str(value).lower() for name, value in switches.items()}
        if rng.random() < 0.4:
            found[f"{_STATISTICS}column.list"] = rng.choice(("n", "a", "n,a", "id"))
        if switches[f"{_METADATA}index.secondary.enable"]:
            found[f"{_METADATA}index.secondary.column"] = rng.choice(("n", "n", "b"))
        found["hoodie.index.type"] = rng.choice(
            ("SIMPLE", "BLOOM", "GLOBAL_SIMPLE", "GLOBAL_RECORD_LEVEL_INDEX" if record_index else "SIMPLE")
        )
        return found


def filters_of(drawn: Drawn) -> Iterator[Query]:
    """Queries with filters for each value of the first columns and keys that the steps wrote."""
    for column in ("id", "n", "a", "b"):
        values = {row.get(column) for step in drawn.recipe.steps for row in step.rows} - {None}
        for value in sorted(values, key=str):
            yield Query(columns=("id", "n"), where=((column, "=", value),))
