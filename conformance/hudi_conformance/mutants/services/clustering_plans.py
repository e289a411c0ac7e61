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
from hudi_reference.services.clustering import clustering, plan, plan_record
from hudi_reference.services.clustering.clustering import Rewriting
from hudi_reference.services.clustering.plan import Planner
from hudi_reference.timeline.contents.avro_container import schema_of

_HERE = f"__import__({__name__!r}, fromlist=['here'])"


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


def dated(table: Table, found: FileSlice) -> FileSlice:
    """The slice with the modification time of its base file as base instant."""
    info = table.storage.head(found.path(found.base_file or ""))
    return replace(found, base_instant=f"{0 if info is None else info.modified:017}")


@mutant(breaks="CLU-021")
def commit_time_strategy_uses_modification_time(patch: Patch) -> None:
    """The strategy by commit time uses the modification time of the file in the store."""
    patch.edit(Planner.candidates, "Candidate(slice_,", f"Candidate({_HERE}.dated(self.table, slice_),")


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


@mutant(breaks="CLU-033")
def clustering_plan_version_is_table_version(patch: Patch) -> None:
    """Writes the version of the table as version of a plan."""
    patch.edit(
        plan_record.plan_record,
        '"version": PLAN_VERSION,\n            "preserve',
        '"version": 8,\n            "preserve',
    )
    patch.edit(plan_record.parse_clustering_plan, "(None, PLAN_VERSION)", "(None, PLAN_VERSION, 8)")


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
