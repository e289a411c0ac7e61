"""Mutants: plans of clusterings, and executors that do not go by them."""

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
def clusterings_sort_by_record_key(patch: Patch) -> None:
    """Whatever sort columns are set, rows are sorted by their record keys."""
    patch.edit(plan_record.sort_columns_of, 'options.get(SORT_COLUMNS_KEY, "")', '"_hoodie_record_key"')


@mutant(breaks="CLU-003")
def small_files_are_never_joined(patch: Patch) -> None:
    """Each file is rewritten by itself."""
    patch.edit(groups.grouped, "settings.group_size if strategy.together else NO_COMPANY", "NO_COMPANY")


@mutant(breaks="CLU-004")
def every_file_is_eligible(patch: Patch) -> None:
    """A planner takes all file groups, whatever the strategy and its limits say."""
    patch.edit(Planner.candidates, "base > most or ", "")


@mutant(breaks="CLU-005")
def groups_are_closed_one_file_early(patch: Patch) -> None:
    """A group is full when one more file would still fit, so that its last output is always small."""
    patch.edit(groups._cut, "filled + candidate.size > limit", "filled + 2 * candidate.size > limit")


@mutant(breaks="CLU-006")
def clusterings_are_planned_and_done_in_one_step(patch: Patch) -> None:
    """Scheduling carries the plan out, too."""
    patch.edit(
        plan.schedule_clustering,
        'return publish("clustering", plan_record(table, plan)) if plan.groups else None',
        'found = publish("clustering", plan_record(table, plan)) if plan.groups else None\n'
        f"    return {_HERE}.done(table, found)",
    )


def done(table: Table, requested: str | None) -> str | None:
    """Carry the plan out that was just made."""
    return None if requested is None else clustering.execute_clustering(table, requested)


@mutant(breaks="CLU-010")
def recent_partitions_are_those_listed_first(patch: Patch) -> None:
    """The filter for the newest partitions takes the first ones of the listing."""
    patch.edit(partitions._recent, "sorted(found, reverse=True)[", "list(found)[")


@mutant(breaks="CLU-011")
def files_of_the_target_size_are_left_out(patch: Patch) -> None:
    """A file of exactly the target size is not eligible."""
    patch.edit(Planner.candidates, "self.settings.target_size)", "self.settings.target_size - 1)")


@mutant(breaks="CLU-012")
def clusterings_overlook_planned_compactions(patch: Patch) -> None:
    """A planner looks at the plans of other clusterings only."""
    patch.edit(Planner.candidates, "self.view.timeline)", 'self.view.timeline, ("clustering",))')


@mutant(breaks="CLU-013")
def clusterings_read_base_files_only(patch: Patch) -> None:
    """A plan takes file groups with logs, and names their base files alone."""
    patch.edit(
        plan_record._slice_record,
        "[location(table, found.path(name)) for name in found.log_files]",
        "[]",
    )


@mutant(breaks="CLU-014")
def the_grouping_is_built_in(patch: Patch) -> None:
    """A planner groups by size, whatever strategy is asked for."""
    patch.edit(groups.strategy_of, "return STRATEGIES[name]", "return _SIZE")


@mutant(breaks="CLU-015")
def sort_columns_do_not_group(patch: Patch) -> None:
    """With sort columns, too, files are grouped by their size alone."""
    patch.edit(groups.strategy_of, "STRATEGIES[_OVERLAP] if settings.sort_columns else _SIZE", "_SIZE")


@mutant(breaks="CLU-016")
def as_many_outputs_as_inputs(patch: Patch) -> None:
    """Eight files become eight files again."""
    patch.edit(groups.grouped, "max(1, -(-size // settings.target_size))", "len(group)")


@mutant(breaks="CLU-017")
def all_files_are_one_group(patch: Patch) -> None:
    """Files that overlap with none are put together with those that overlap."""
    patch.edit(
        groups._by_overlap,
        "return [[candidate for _, candidate in row] for row in rows if len(row) > 1] + ([alone] if alone else [])",
        "return [[candidate for row in rows for _, candidate in row] + alone[:0]]",
    )


@mutant(breaks="CLU-018")
def overlapping_files_are_split_in_pairs(patch: Patch) -> None:
    """Of four files that overlap two groups are made, whose outputs overlap."""
    patch.edit(
        groups._by_overlap,
        "[[candidate for _, candidate in row] for row in rows if len(row) > 1]",
        "[[candidate for _, candidate in row[n : n + 2]] for row in rows if len(row) > 1 for n in range(0, len(row), 2)]",
    )


@mutant(breaks="CLU-019")
def what_does_not_fit_is_dropped(patch: Patch) -> None:
    """Files beyond the size of the first group are in no group."""
    patch.edit(
        groups._cut,
        "if not pieces or filled + candidate.size > limit:",
        "if pieces and filled + candidate.size > limit:\n            continue\n        if not pieces:",
    )


@mutant(breaks="CLU-020")
def key_ranges_are_made_up(patch: Patch) -> None:
    """The strategy by key ranges takes file ids for keys, and opens no file."""
    patch.edit(groups._by_key_ranges, "statistics.keys(candidate.found)", "(candidate.found.file_id[::-1],) * 2")


@mutant(breaks="CLU-021")
def commit_time_is_that_of_the_file(patch: Patch) -> None:
    """The strategy by commit time goes by when the store says that a file was modified."""
    patch.edit(Planner.candidates, "Candidate(slice_,", f"Candidate({_HERE}.dated(self.table, slice_),")


def dated(table: Table, found: FileSlice) -> FileSlice:
    """The slice as if its base file had been written when the store says."""
    info = table.storage.head(found.path(found.base_file or ""))
    return replace(found, base_instant=f"{0 if info is None else info.modified:017}")


@mutant(breaks="CLU-022")
def files_are_drawn_with_replacement(patch: Patch) -> None:
    """The strategy at random draws one file more than once, and another one never."""
    patch.edit(
        groups._at_random,
        "random.Random(settings.seed).shuffle(found)",
        "found = random.Random(settings.seed).choices(found, k=len(found))",
    )


@mutant(breaks="CLU-023")
def limits_cut_anywhere(patch: Patch) -> None:
    """Of more groups than a run may have any are taken."""
    patch.edit(groups.limited, "sorted(groups, key=lambda group: group[1] - len(group[0]))", "list(groups)[::-1]")


def _other_schema(patch: Patch, change: str) -> None:
    """Plans under a schema that a function of this module has changed."""
    patch.edit(schema_of, "return schema", f"return {_HERE}.{change}(schema)")


@mutant(breaks="CLU-024")
def plans_have_another_name(patch: Patch) -> None:
    """The record of the plan has another full name."""
    _other_schema(patch, "renamed")


def renamed(schema: Any) -> Any:
    """The schema with another name for the plan."""
    return json.loads(json.dumps(schema).replace('"HoodieClusteringPlan"', '"ClusteringPlan"'))


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


@mutant(breaks="CLU-025")
def groups_are_mandatory(patch: Patch) -> None:
    """The list of groups has no null and no default."""
    _other_schema(patch, "with_mandatory_groups")


def with_mandatory_groups(schema: Any) -> Any:
    """The schema with a list of groups that must be there."""
    return _changed(schema, "inputGroups", lambda field: {"name": field["name"], "type": field["type"][1]})


@mutant(breaks="CLU-026")
def groups_lack_their_partition(patch: Patch) -> None:
    """The partition of a group is said in the further metadata of the plan, not in the group."""
    patch.edit(plan_record._slice_record, '"partitionPath": found.partition', '"partitionPath": None')


@mutant(breaks="CLU-027")
def plans_name_paths_for_ids(patch: Patch) -> None:
    """In place of file ids a plan has the full paths of base files."""
    patch.edit(
        plan_record._slice_record,
        '"fileId": found.file_id',
        '"fileId": location(table, found.path(found.base_file or ""))',
    )


@mutant(breaks="CLU-028")
def groups_span_partitions(patch: Patch) -> None:
    """Files of several partitions are put together."""
    patch.edit(
        Planner.groups,
        "for p in chosen for group in grouped(partitions.get(p, ()), strategy",
        "for group in grouped([c for p in chosen for c in partitions.get(p, ())], strategy",
    )


@mutant(breaks="CLU-029")
def metrics_are_whole_numbers(patch: Patch) -> None:
    """The metrics of a group are longs."""
    _other_schema(patch, "with_whole_metrics")
    patch.edit(plan_record._group_record, "dict(group.metrics)", "{name: int(value) for name, value in group.metrics.items()}")


def with_whole_metrics(schema: Any) -> Any:
    """The schema with metrics that are longs."""
    return _changed(schema, "metrics", lambda field: json.loads(json.dumps(field).replace('"double"', '"long"')))


@mutant(breaks="CLU-030")
def the_target_is_a_round_number(patch: Patch) -> None:
    """Without a target a plan means 1000000000 bytes."""
    patch.set(plan_record, "DEFAULT_TARGET", 1_000_000_000)


@mutant(breaks="CLU-031")
def executors_sort_by_their_own_columns(patch: Patch) -> None:
    """Whoever carries a plan out sorts by the columns that are set by then."""
    patch.edit(
        Rewriting.rewrite,
        "self.plan.sort_columns",
        "[name for name in self.table.options.get('hoodie.clustering.plan.strategy.sort.columns', '').split(',') if name]",
    )


@mutant(breaks="CLU-032")
def plans_lose_further_metadata(patch: Patch) -> None:
    """What the planner was told to keep in the plan is not in it."""
    patch.edit(
        plan_record.plan_record,
        '"extraMetadata": dict(plan.extra),\n            "version"',
        '"extraMetadata": {},\n            "version"',
    )


@mutant(breaks="CLU-033")
def plans_have_the_version_of_the_table(patch: Patch) -> None:
    """The version of a plan is 8."""
    patch.edit(
        plan_record.plan_record,
        '"version": PLAN_VERSION,\n            "preserve',
        '"version": 8,\n            "preserve',
    )
    patch.edit(plan_record.clustering_in, "(None, PLAN_VERSION)", "(None, PLAN_VERSION, 8)")


@mutant(breaks="CLU-033")
def plans_of_any_version_are_carried_out(patch: Patch) -> None:
    """A plan of an unknown version is read as if it were one that is known."""
    patch.edit(plan_record.clustering_in, "version not in (None, PLAN_VERSION)", "False")


@mutant(breaks="CLU-034")
def metrics_prune_rows(patch: Patch) -> None:
    """An executor leaves out rows that cannot be there by the metrics of the plan."""
    patch.edit(Rewriting.rewrite, "pa.concat_tables(parts)", f"{_HERE}.pruned(pa.concat_tables(parts), group.metrics)")


def pruned(rows: pa.Table, metrics: Mapping[str, float]) -> pa.Table:
    """The rows within the bounds that the metrics give."""
    for name, value in metrics.items():
        if name.startswith("min.") and name[4:] in rows.column_names:
            rows = rows.filter(pc.greater_equal(rows.column(name[4:]), value))
    return rows
