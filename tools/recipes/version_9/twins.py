"""Twins at version 9: the same table, steps and checks as a recipe of version 8, written as version 9.

Timeline, file names, log blocks and rows are the same in both versions, so that a reader of version 9 must give the same
answers. A twin cites the rules of its original that hold for version 9, and the counterparts of those that do not.
"""

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatch

from tools.recipes.recipe import HUDI_1_2, REFERENCE, Check, Producer, Recipe

from hudi_conformance.requirements.requirement import requirement

#: The modules with originals, and patterns of the names of those that have a twin.
ORIGINALS: Mapping[str, tuple[str, ...]] = {
    "merge.merge_modes": (
        "event-time.*.mor", "event-time.late-record.cow", "commit-time.*.mor", "delete.*.mor", "delete.flagged-*.cow",
        "delete.by-key.cow", "compaction.*", "clustering.*", "keys.composite.*", "keys.same-key-in-two-partitions.mor",
    ),
    "merge.ordering_values": (
        "ordering-type.int.mor", "ordering-type.string.mor", "ordering-type.decimal.mor", "ordering-type.timestamp.mor",
        "ordering-type.date.mor", "ordering-type.double-nan.mor", "ordering-type.null.mor", "two-ordering-fields.mor",
        "ordering-type.string.flagged-delete.mor",
    ),
    "merge.truth_tables": ("truth-table.*.cow", "truth-table.*.compacted", "truth-table.*.log-compacted"),
    "log.log_files": (
        "base-and-log", "three-logs", "record-positions", "two-groups-in-one-partition", "data-and-delete-in-one-file",
        "delete-block-of-keys", "parquet-blocks", "hfile-blocks", "several-blocks-in-one-file", "only-logs*",
        "log-compaction*", "change-capture-logs",
    ),
    "log.partial_updates": ("partial.*",),
    "timeline.timeline": ("pending.inflight.*", "as-of.mor"),
    "timeline.services": (
        "compaction.*", "clustering.*", "insert-overwrite*", "delete-partition", "clean.mor", "clean.keeps-a-savepoint",
        "rollback.*", "savepoint", "restore.mor", "history.mor",
    ),
    "timeline.action_states": ("states.clean.completed.cow", "states.write.requested.mor"),
    "query.queries": ("chosen.*", "read-optimized*", "types.*"),
    "query.schema_evolution": ("schema.every-step.*", "schema.nested.mor", "schema.winner-lacks-a-column.mor"),
    "query.incremental_windows": (
        "incremental.cow", "incremental.mor", "incremental.compacted", "incremental.clustered", "incremental.replaced",
        "changes.both.*", "changes.compacted",
    ),
    "query.data_skipping": (
        "skipping.values-that-moved.*", "skipping.values-without-bounds.cow", "skipping.column-that-came-later.mor",
        "skipping.record-keys.mor",
    ),
    "layout.layout": ("partition.hive-style-and-url-encoded", "partition.null.mor", "partition.date-column", "no-record-key"),
}  # fmt: skip

#: The same for tables that are finished by hand, by the reference: Apache Hudi writes none of them.
HANDMADE: Mapping[str, tuple[str, ...]] = {
    "layout.layout": ("broken.properties.no-table-type", "broken.properties.no-table-name", "base-file-of-another-attempt"),
    "merge.payloads": ("own-merger.mor",),
    "log.log_files": ("rollback-command", "rollback-command.twice"),
    "log.file_slices": ("slices.base-files-of-two-formats", "slices.keys-as-stored", "slices.meta-columns-as-stored"),
    "log.handmade_blocks": (
        "joined.while-the-log-compaction-is-pending",
        "slices.a-log-began-before-a-compaction-and-completed-after",
    ),
    "timeline.handmade_histories": ("history.an-older-manifest-is-valid",),
    "timeline.timeline": ("pending.base-file-before-a-committed-log",),
}

#: Originals that match a pattern and have no twin, with the reason.
WITHOUT_TWIN: Mapping[str, str] = {
    "event-time.another-mode-of-one-job.mor": "a write of another mode is refused at version 9",
}

#: Rules of version 8 and the rules of version 9 in their place.
COUNTERPARTS: Mapping[str, str] = {"PROP-009": "PROP-020", "PROP-006": "PROP-018", "IDX-029": "IDX-046"}


def twin(recipe: Recipe, producer: Producer = HUDI_1_2) -> Recipe:
    """The recipe at version 9, by Apache Hudi 1.2.0 or the reference; an original by another release has the same checks."""
    original = producer if producer in recipe.producers else recipe.producers[0]
    checks = tuple(_check(check) for check in recipe.checks if check.only is None or original in check.only)
    return replace(
        recipe,
        name=f"{recipe.name}.version-9",
        table=recipe.table.having(version=9),
        checks=checks,
        producers=(producer,),
        note=None,
    )


def _check(check: Check) -> Check:
    rules = dict.fromkeys(COUNTERPARTS.get(rule, rule) for rule in check.requirements)
    return replace(check, requirements=tuple(rule for rule in rules if 9 in requirement(rule).versions), only=None)


def _twins() -> Iterator[Recipe]:
    for module, patterns in ORIGINALS.items():
        for recipe in importlib.import_module(f"tools.recipes.{module}").RECIPES:
            by_hudi = any(producer.startswith("apache-hudi") for producer in recipe.producers)
            if by_hudi and recipe.name not in WITHOUT_TWIN and any(fnmatch(recipe.name, pattern) for pattern in patterns):
                yield twin(recipe)
    for module, names in HANDMADE.items():
        known = {recipe.name: recipe for recipe in importlib.import_module(f"tools.recipes.{module}").RECIPES}
        yield from (twin(known[name], REFERENCE) for name in names)


RECIPES = list(_twins())
