"""Draws tables whose writes have other settings of files, services and change capture than the writes before them.

A table keeps files of each setting: log blocks of several formats, with and without positions, small files and blocks, nested
columns in two layouts of Parquet, images of changes in several modes.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tools.drawn_tables.drawing import USUAL, Drawn
from tools.drawn_tables.settings import CAPTURES, MERGINGS, PLACINGS
from tools.drawn_tables.wide import WideDrawer
from tools.recipes.recipe import COW, MOR, Step

#: Settings that each write draws, with the values; an empty text is the default of the release.
FILES: Mapping[str, Sequence[str]] = {
    "hoodie.logfile.data.block.format": ("", "", "avro", "parquet"),
    "hoodie.write.record.positions": ("", "true", "false"),
    "hoodie.parquet.small.file.limit": ("", "0", "0"),
    "hoodie.parquet.max.file.size": ("", "", "2048"),
    "hoodie.parquet.compression.codec": ("", "gzip", "zstd", "snappy"),
    "hoodie.parquet.writelegacyformat.enabled": ("", "true", "false"),
    "hoodie.parquet.dictionary.enabled": ("", "false"),
    "hoodie.bloom.index.filter.type": ("", "SIMPLE"),
    "hoodie.logfile.max.size": ("", "512"),
    "hoodie.logfile.data.block.max.size": ("", "", "128"),
    "hoodie.datasource.write.row.writer.enable": ("", "false"),
    "hoodie.write.record.merge.custom.implementation.classes": ("", "", "org.apache.hudi.DefaultSparkRecordMerger"),
    "hoodie.index.type": ("", "SIMPLE", "BLOOM"),
}
SERVICES: Sequence[Mapping[str, str]] = (
    {}, {}, {}, {},
    {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"},
    {"hoodie.compact.schedule.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"},
    {"hoodie.log.compaction.inline": "true", "hoodie.log.compaction.blocks.threshold": "1"},
    {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "1"},
    {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "1",
     "hoodie.clustering.plan.strategy.sort.columns": "b,id", "hoodie.layout.optimize.strategy": "z-order"},
    {"hoodie.clustering.schedule.inline": "true", "hoodie.clustering.inline.max.commits": "1"},
    {"hoodie.clean.automatic": "true", "hoodie.clean.commits.retained": "1"},
    {"hoodie.clean.automatic": "true", "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS",
     "hoodie.clean.fileversions.retained": "1"},
    {"hoodie.clean.automatic": "true", "hoodie.clean.commits.retained": "1", "hoodie.archive.automatic": "true",
     "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"},
)  # fmt: skip
_MODE = "hoodie.table.cdc.supplemental.logging.mode"


def draw_varying(number: int, seed: int = 1) -> Drawn:
    """The table of this number."""
    rng = random.Random(f"varying-{seed}-{number}")
    axes = {name: rng.choice(usual) for name, usual in USUAL.items()} | {
        "start": "9", "places": "fixed", "creator": "frame", "schema": rng.choice(("grown", "widened")), "format": "varying",
        "length": rng.choice(("short", "short", "long")), "index": rng.choice(("default", "no-metadata")),
        "merging": rng.choice(sorted(MERGINGS)), "placing": rng.choice(sorted(PLACINGS)), "service": "none",
        "capture": rng.choice(("none", "none", *CAPTURES)), "type": rng.choice((COW, MOR, MOR)),
    }  # fmt: skip
    return VaryingDrawer(rng, number, seed, axes).drawn()


class VaryingDrawer(WideDrawer):
    """The choices for one table."""

    def format_options(self) -> Mapping[str, str]:
        """None for the table: each write has its own."""
        return {}

    def _steps(self) -> list[Step]:
        return [
            step if step.kind in ("rollback", "restore", "savepoint")
            else replace(step, options={**step.options, **self._settings_of_a_write()})
            for step in super()._steps()
        ]  # fmt: skip

    def _settings_of_a_write(self) -> dict[str, str]:
        rng = self.rng
        found = {name: rng.choice(values) for name, values in FILES.items() if rng.random() < 0.6}
        services = rng.choice(SERVICES)
        if self.axes["type"] == MOR or not any("compact" in name for name in services):
            found |= services
        if self.axes["capture"] != "none" and rng.random() < 0.4:
            found[_MODE] = rng.choice(("op_key_only", "data_before", "data_before_after")).upper()
        return {name: value for name, value in found.items() if value}
