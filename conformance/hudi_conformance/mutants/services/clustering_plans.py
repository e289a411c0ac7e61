"""Mutants of clustering plans and strategies."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.table import Table
from hudi_reference.services.clustering import clustering, groups, partitions, plan, plan_record
from hudi_reference.services.clustering.clustering import Rewriting
from hudi_reference.services.clustering.plan import Planner
from hudi_reference.timeline.contents.schemas import schema_of

_HERE = f"__import__({__name__!r}, fromlist=['here'])"


@mutant(breaks="CLU-002")
def clustering_sorts_by_record_key(patch: Patch) -> None:
    """Sorts rows by their record keys, whatever sort columns are set."""
    patch.edit(plan_record.sort_columns_of, 'options.get(SORT_COLUMNS_KEY, "")', '"_hoodie_record_key"')


@mutant(breaks="CLU-003")
def clustering_never_combines_files(patch: Patch) -> None:
    """Rewrites each file separately."""
    patch.edit(groups.grouped, "settings.group_size if strategy.together else SINGLE_SLICE", "SINGLE_SLICE")


@mutant(breaks="CLU-004")
def clustering_takes_every_file(patch: Patch) -> None:
    """A planner takes all file groups, whatever the strategy and its limits say."""
    patch.edit(Planner.candidates, "base > most or ", "")


@mutant(breaks="CLU-005")
def clustering_group_closed_early(patch: Patch) -> None:
    """Closes a group although one more file would fit, so that its last output is always small."""
    patch.edit(groups._cut, "filled + candidate.size > limit", "filled + 2 * candidate.size > limit")


def done(table: Table, requested: str | None) -> str | None:
    """Execute the plan that was just scheduled."""
    return None if requested is None else clustering.execute_clustering(table, requested)


@mutant(breaks="CLU-006")
def clustering_executed_when_scheduled(patch: Patch) -> None:
    """Scheduling also executes the plan."""
    patch.edit(
        plan.schedule_clustering,
        'return publish("clustering", plan_record(table, plan)) if plan.groups else None',
        'found = publish("clustering", plan_record(table, plan)) if plan.groups else None\n'
        f"    return {_HERE}.done(table, found)",
    )


@mutant(breaks="CLU-010")
def recent_partitions_by_listing_order(patch: Patch) -> None:
    """The filter for the newest partitions takes the first ones of the listing."""
    patch.edit(partitions._recent, "sorted(found, reverse=True)[", "list(found)[")


@mutant(breaks="CLU-011")
def clustering_excludes_target_size(patch: Patch) -> None:
    """Does not take a file of exactly the target size."""
    patch.edit(Planner.candidates, "self.settings.target_size)", "self.settings.target_size - 1)")


@mutant(breaks="CLU-012")
def clustering_plan_ignores_compactions(patch: Patch) -> None:
    """A planner checks the plans of other clusterings only."""
    patch.edit(Planner.candidates, "self.view.timeline)", 'self.view.timeline, ("clustering",))')


@mutant(breaks="CLU-013")
def clustering_plan_without_logs(patch: Patch) -> None:
    """A plan takes file groups with logs, and names their base files only."""
    patch.edit(
        plan_record._slice_record,
        "[location(table, file_slice.path(name)) for name in file_slice.log_files]",
        "[]",
    )


@mutant(breaks="CLU-014")
def clustering_strategy_ignored(patch: Patch) -> None:
    """A planner groups by size, whatever strategy is configured."""
    patch.edit(groups.strategy_of, "return STRATEGIES[name]", "return _SIZE")


@mutant(breaks="CLU-015")
def clustering_groups_by_size_with_sort_columns(patch: Patch) -> None:
    """Groups files by size only, also with sort columns."""
    patch.edit(groups.strategy_of, "STRATEGIES[_OVERLAP] if settings.sort_columns else _SIZE", "_SIZE")


@mutant(breaks="CLU-016")
def clustering_outputs_equal_inputs(patch: Patch) -> None:
    """Eight input files become eight output files."""
    patch.edit(groups.grouped, "max(1, -(-size // settings.target_size))", "len(group)")


@mutant(breaks="CLU-017")
def clustering_groups_unrelated_files(patch: Patch) -> None:
    """Groups files without overlap together with files that overlap."""
    patch.edit(
        groups._by_overlap,
        "return [[candidate for _, candidate in row] for row in rows if len(row) > 1] + ([alone] if alone else [])",
        "return [[candidate for row in rows for _, candidate in row] + alone[:0]]",
    )


@mutant(breaks="CLU-018")
def clustering_splits_overlapping_files(patch: Patch) -> None:
    """Makes two groups of four overlapping files, whose outputs overlap."""
    patch.edit(
        groups._by_overlap,
        "[[candidate for _, candidate in row] for row in rows if len(row) > 1]",
        "[[candidate for _, candidate in row[n : n + 2]] for row in rows if len(row) > 1 for n in range(0, len(row), 2)]",
    )


@mutant(breaks="CLU-019")
def clustering_drops_excess_files(patch: Patch) -> None:
    """Files beyond the size of the first group are in no group."""
    patch.edit(
        groups._cut,
        "if not pieces or filled + candidate.size > limit:",
        "if pieces and filled + candidate.size > limit:\n            continue\n        if not pieces:",
    )


@mutant(breaks="CLU-020")
def key_range_strategy_uses_file_ids(patch: Patch) -> None:
    """The strategy by key ranges takes file ids for keys, and opens no file."""
    patch.edit(groups._by_key_ranges, "statistics.keys(candidate.file_slice)", "(candidate.file_slice.file_id[::-1],) * 2")


def dated(table: Table, found: FileSlice) -> FileSlice:
    """The slice with the modification time of its base file as base instant."""
    info = table.storage.head(found.path(found.base_file or ""))
    return replace(found, base_instant=f"{0 if info is None else info.modified:017}")


@mutant(breaks="CLU-021")
def commit_time_strategy_uses_modification_time(patch: Patch) -> None:
    """The strategy by commit time uses the modification time of the file in the store."""
    patch.edit(Planner.candidates, "Candidate(slice_,", f"Candidate({_HERE}.dated(self.table, slice_),")


@mutant(breaks="CLU-022")
def random_strategy_with_replacement(patch: Patch) -> None:
    """The random strategy selects one file more than once, and another one never."""
    patch.edit(
        groups._at_random,
        "random.Random(settings.seed).shuffle(found)",
        "found = random.Random(settings.seed).choices(found, k=len(found))",
    )


@mutant(breaks="CLU-023")
def clustering_group_limit_takes_any(patch: Patch) -> None:
    """If there are more groups than a run may have, arbitrary ones are taken."""
    patch.edit(groups.limited, "sorted(groups, key=lambda group: group[1] - len(group[0]))", "list(groups)[::-1]")


def _other_schema(patch: Patch, change: str) -> None:
    """Write plans with a schema that a function of this module changes."""
    patch.edit(schema_of, "return schema", f"return {_HERE}.{change}(schema)")


def renamed(schema: Any) -> Any:
    """The schema with another name for the plan."""
    return json.loads(json.dumps(schema).replace('"HoodieClusteringPlan"', '"ClusteringPlan"'))


@mutant(breaks="CLU-024")
def clustering_plan_record_renamed(patch: Patch) -> None:
    """Writes plans whose Avro record has another full name."""
    _other_schema(patch, "renamed")


def _changed(schema: Any, name: str, change: Any) -> Any:
    """The schema with the field of that name changed, wherever it is."""
    match schema:
        case {"name": found, "type": _, "default": _} if found == name:
            return change(schema)
        case dict():
            return {key: _changed(value, name, change) for key, value in schema.items()}
        case list():
            return [_changed(value, name, change) for value in schema]
    return schema


def with_mandatory_groups(schema: Any) -> Any:
    """The schema with a list of groups that is not nullable."""
    return _changed(schema, "inputGroups", lambda field: {"name": field["name"], "type": field["type"][1]})


@mutant(breaks="CLU-025")
def clustering_plan_groups_not_nullable(patch: Patch) -> None:
    """Writes plans in whose schema the list of groups is not nullable and has no default."""
    _other_schema(patch, "with_mandatory_groups")


@mutant(breaks="CLU-026")
def clustering_group_partition_in_extra_metadata(patch: Patch) -> None:
    """Stores the partition of a group in the extra metadata of the plan, not in the group."""
    patch.edit(plan_record._slice_record, '"partitionPath": file_slice.partition', '"partitionPath": None')


@mutant(breaks="CLU-027")
def clustering_plan_names_paths(patch: Patch) -> None:
    """Stores the full paths of base files in place of file ids."""
    patch.edit(
        plan_record._slice_record,
        '"fileId": file_slice.file_id',
        '"fileId": location(table, file_slice.path(file_slice.base_file or ""))',
    )


@mutant(breaks="CLU-028")
def clustering_group_spans_partitions(patch: Patch) -> None:
    """Puts files of several partitions into one clustering group."""
    patch.edit(
        Planner.groups,
        "for p in chosen for group in grouped(partitions.get(p, ()), strategy",
        "for group in grouped([c for p in chosen for c in partitions.get(p, ())], strategy",
    )


def with_whole_metrics(schema: Any) -> Any:
    """The schema with metrics that are longs."""
    return _changed(schema, "metrics", lambda field: json.loads(json.dumps(field).replace('"double"', '"long"')))


@mutant(breaks="CLU-029")
def clustering_metrics_as_longs(patch: Patch) -> None:
    """Writes plans in which the metrics of a group are longs."""
    _other_schema(patch, "with_whole_metrics")
    patch.edit(plan_record._group_record, "dict(group.metrics)", "{name: int(value) for name, value in group.metrics.items()}")


@mutant(breaks="CLU-030")
def clustering_target_size_round(patch: Patch) -> None:
    """Uses a target of 1000000000 bytes where the plan has none."""
    patch.set(plan_record, "DEFAULT_TARGET", 1_000_000_000)


@mutant(breaks="CLU-031")
def clustering_executor_ignores_plan_columns(patch: Patch) -> None:
    """The executor sorts by the columns that are configured when it runs."""
    patch.edit(
        Rewriting.rewrite,
        "self.plan.sort_columns",
        "[name for name in self.table.options.get('hoodie.clustering.plan.strategy.sort.columns', '').split(',') if name]",
    )


@mutant(breaks="CLU-032")
def clustering_plan_extra_metadata_dropped(patch: Patch) -> None:
    """Drops the extra metadata that the planner was given."""
    patch.edit(
        plan_record.plan_record,
        '"extraMetadata": dict(plan.extra),\n            "version"',
        '"extraMetadata": {},\n            "version"',
    )


@mutant(breaks="CLU-033")
def clustering_plan_version_is_table_version(patch: Patch) -> None:
    """Writes the version of the table as version of a plan."""
    patch.edit(
        plan_record.plan_record,
        '"version": PLAN_VERSION,\n            "preserve',
        '"version": 8,\n            "preserve',
    )
    patch.edit(plan_record.clustering_in, "(None, PLAN_VERSION)", "(None, PLAN_VERSION, 8)")


@mutant(breaks="CLU-033")
def unknown_clustering_plan_version_executed(patch: Patch) -> None:
    """Executes a plan of an unknown version as if it were known."""
    patch.edit(plan_record.clustering_in, "version not in (None, PLAN_VERSION)", "False")


def pruned(rows: pa.Table, metrics: Mapping[str, float]) -> pa.Table:
    """The rows within the bounds of the metrics."""
    for name, value in metrics.items():
        if name.startswith("min.") and name[4:] in rows.column_names:
            rows = rows.filter(pc.greater_equal(rows.column(name[4:]), value))
    return rows


@mutant(breaks="CLU-034")
def clustering_metrics_prune_rows(patch: Patch) -> None:
    """An executor omits rows that cannot exist according to the metrics of the plan."""
    patch.edit(Rewriting.rewrite, "pa.concat_tables(parts)", f"{_HERE}.pruned(pa.concat_tables(parts), group.metrics)")
