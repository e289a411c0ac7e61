"""Clustering plans: which file groups are eligible, how they are grouped, when a plan is due, and how it is stored."""

import io
import json
import os
from itertools import pairwise
from typing import Any

import fastavro
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import expect_rows, row
from hudi_conformance.suite.support.tables.tables_to_cluster import (
    LARGE,
    LOGS,
    PLANS,
    SORT,
    STRATEGIES,
    NewUri,
    SmallFiles,
    incompressible_text,
    planner_settings,
)
from hudi_conformance.suite.support.tables.tables_under_services import data_file_names, instant_files, read_instant_file
from hudi_conformance.suite.support.tables.tables_with_logs import DUE, JOIN, log_file_names
from hudi_conformance.suite.support.tables.written_tables import base_files, table_folder

MODE = "hoodie.clustering.plan.partition.filter.mode"


@PLANS
@pytest.mark.requirements("CLU-006", "TL-043", "TL-012", "CLU-026", "CLU-027", "CLU-028")
def test_a_plan_is_published_before_its_execution(engine: Client, new_uri: NewUri) -> None:
    """CLU-006: only the requested file is new; for each group it names the slices with file id, partition and base file."""
    table = SmallFiles(engine, new_uri())
    made = {"oslo": set(table.add_groups_of_sizes(10, 20)), "rio": set(table.add_groups_of_sizes(30, city="rio"))}
    files = data_file_names(table.uri)
    found = table.plan()
    assert instant_files(table.uri, "clustering") == {f"{found.instant}.clustering.requested"}
    assert instant_files(table.uri, "replacecommit") == set()
    assert data_file_names(table.uri) == files
    assert found.record["operationType"] == "CLUSTER"
    assert {group.partition: set(group.files) for group in found.groups} == made
    for group in found.plan["inputGroups"]:
        for slice_ in group["slices"]:
            (name,) = (path.name for path in base_files(table.uri) if path.name.startswith(slice_["fileId"]))
            assert slice_["dataFilePath"].endswith(f"/{slice_['partitionPath']}/{name}")
            assert slice_["deltaFilePaths"] == []


def stored_schema(uri: str, instant: str) -> tuple[Any, list[Any]]:
    """Return the schema in the requested file of a clustering and the records in it."""
    file = table_folder(uri) / ".hoodie" / "timeline" / f"{instant}.clustering.requested"
    reader = fastavro.reader(io.BytesIO(file.read_bytes()))
    return json.loads(reader.metadata["avro.schema"]), list(reader)


def field_names(record: Any) -> dict[str, Any]:
    """Return name -> type without Java attributes, and default, of the fields of a record in a union with null."""
    (plain,) = (branch for branch in record if branch != "null")
    return {field["name"]: (_bare(field["type"]), field.get("default", "none")) for field in plain["fields"]}


def _bare(kind: Any) -> Any:
    """Return a type by its structure: records by their names alone."""
    match kind:
        case list():
            return [_bare(branch) for branch in kind]
        case {"type": "record", "name": name}:
            return name
        case {"type": "array", "items": items}:
            return {"array": _bare(items)}
        case {"type": "map", "values": values}:
            return {"map": _bare(values)}
        case {"type": plain}:
            return plain
    return kind


def _inner(record: Any, field: str) -> Any:
    """Return the union of the record in a field, or in the items of its list."""
    (plain,) = (branch for branch in record if branch != "null")
    (kind,) = (found["type"] for found in plain["fields"] if found["name"] == field)
    (branch,) = (branch for branch in kind if branch != "null")
    return [branch["items"] if branch["type"] == "array" else branch]


STRINGS = ["null", {"map": "string"}]
VERSION = (["int", "null"], 1)


@PLANS
@pytest.mark.requirements("CLU-024", "CLU-025", "CLU-026", "CLU-027", "CLU-028", "CLU-029", "CLU-032", "CLU-033", "TL-012")
def test_plans_have_the_schema_of_deployed_releases(engine: Client, new_uri: NewUri) -> None:
    """CLU-033: names, types and defaults of all fields, in the file's own schema; metrics are doubles, and the version is 1."""
    table = SmallFiles(engine, new_uri())
    table.add_groups_of_sizes(10, 20)
    schema, (record,) = stored_schema(table.uri, table.plan().instant)
    assert (schema["namespace"], schema["name"]) == ("org.apache.hudi.avro.model", "HoodieRequestedReplaceMetadata")
    plan = _inner([schema], "clusteringPlan")
    group = _inner(plan, "inputGroups")
    assert [found[0]["name"] for found in (plan, group)] == ["HoodieClusteringPlan", "HoodieClusteringGroup"]
    assert all(found[0].get("namespace", schema["namespace"]) == schema["namespace"] for found in (plan, group))
    assert list(field_names([schema]).items()) == [
        ("operationType", (["null", "string"], None)),
        ("clusteringPlan", (["null", "HoodieClusteringPlan"], None)),
        ("extraMetadata", (STRINGS, None)),
        ("version", VERSION),
    ]
    assert list(field_names(plan).items())[:5] == [
        ("inputGroups", (["null", {"array": "HoodieClusteringGroup"}], None)),
        ("strategy", (["null", "HoodieClusteringStrategy"], None)),
        ("extraMetadata", (STRINGS, None)),
        ("version", VERSION),
        ("preserveHoodieMetadata", (["null", "boolean"], None)),
    ]
    assert list(field_names(group).items()) == [
        ("slices", (["null", {"array": "HoodieSliceInfo"}], None)),
        ("metrics", (["null", {"map": "double"}], None)),
        ("numOutputFileGroups", VERSION),
        ("extraMetadata", (STRINGS, None)),
        ("version", VERSION),
    ]
    assert list(field_names(_inner(group, "slices"))) == [
        "dataFilePath", "deltaFilePaths", "fileId", "partitionPath", "bootstrapFilePath", "version",
    ]  # fmt: skip
    found = record["clusteringPlan"]
    assert (record["version"], found["version"], {g["version"] for g in found["inputGroups"]}) == (1, 1, {1})
    assert found["extraMetadata"] == {}


@PLANS
@pytest.mark.requirements("CLU-004", "CLU-003")
def test_only_small_files_are_eligible(engine: Client, new_uri: NewUri) -> None:
    """CLU-003: files of fewer bytes than the limit are in the plan, files of as many or more are not; with another limit all
    are.
    """
    table = SmallFiles(engine, new_uri())
    files = table.add_groups_of_sizes(100, 20_000, 40_000, 300)
    limit = table.sizes[files[1]]
    assert table.plan(planner_settings(small_file_limit=limit)).files == sorted([files[0], files[3]])
    assert table.plan(planner_settings(small_file_limit=LARGE)).files == sorted(files[1:3]), (
        "the plan does not contain all unplanned files"
    )


@PLANS
@pytest.mark.requirements("CLU-011")
def test_files_up_to_the_target_size_are_planned(engine: Client, new_uri: NewUri) -> None:
    """CLU-011: files below the target size and exactly at it are in the plan, larger ones are not; the size of the group does
    not matter.
    """
    table = SmallFiles(engine, new_uri())
    files = table.add_groups_of_sizes(15_000, 20_000, 60_000)
    target = table.sizes[files[1]]
    found = table.plan(planner_settings(small_file_limit=target + 1, target_file_max_bytes=target))
    assert found.files == sorted(files[:2])


@STRATEGIES
@pytest.mark.requirements("CLU-011")
def test_files_above_the_target_are_not_planned(engine: Client, new_uri: NewUri) -> None:
    """CLU-011: files above the target size are not in the plan, also if they are smaller than the limit of small files."""
    table = SmallFiles(engine, new_uri())
    files = table.add_groups_of_sizes(20_000, 30_000, 60_000)
    found = table.plan(planner_settings(small_file_limit=LARGE, target_file_max_bytes=table.sizes[files[1]]))
    assert found.files == sorted(files[:2])


@pytest.mark.needs(*LOGS, "service.compaction")
@pytest.mark.requirements("CLU-012", "SVC-004", "SVC-010")
def test_planned_file_groups_are_not_planned_again(engine: Client, new_uri: NewUri) -> None:
    """SVC-010: a file group in a pending compaction or clustering plan is in no further plan."""
    table = SmallFiles(engine, new_uri(), "MERGE_ON_READ")
    compacted, clustered, free = (table.add_groups_of_sizes(10, city=city)[0] for city in ("oslo", "rio", "lima"))
    table.update(row("oslo0", 2, "more"))
    instant = engine.service(table.uri, "compaction", phase="schedule", options=DUE)
    assert instant is not None
    (operation,) = read_instant_file(table.uri, instant, "compaction.requested")[1]["operations"]
    assert operation["fileId"] == compacted
    assert table.plan(planner_settings(partition_selected="rio")).files == [clustered]
    assert table.plan().files == [free]
    assert table.try_plan() is None
    expect_rows(engine, table.uri, table.model.snapshot(), "with three plans")


@pytest.mark.needs(*LOGS, "service.log-compaction")
@pytest.mark.requirements("CLU-012", "SVC-004")
def test_file_groups_of_a_log_compaction_are_not_planned(engine: Client, new_uri: NewUri) -> None:
    """SVC-004: a file group in a pending log compaction plan is in no clustering plan."""
    table = SmallFiles(engine, new_uri(), "MERGE_ON_READ")
    table.add_groups_of_sizes(10)
    (free,) = table.add_groups_of_sizes(10, city="rio")
    for number in range(2, 5):
        table.update(row("oslo0", number, "more"))
    assert engine.service(table.uri, "log-compaction", phase="schedule", options=JOIN) is not None
    assert table.plan().files == [free]


@pytest.mark.needs(*LOGS)
@pytest.mark.requirements("CLU-013")
def test_groups_with_logs_are_left_out_or_planned_with_all_logs(engine: Client, new_uri: NewUri) -> None:
    """CLU-013: a plan leaves out file groups with logs, or it names all their logs."""
    table = SmallFiles(engine, new_uri(), "MERGE_ON_READ")
    logged, plain = table.add_groups_of_sizes(10)[0], table.add_groups_of_sizes(10, city="rio")[0]
    table.update(row("oslo0", 2, "more"))
    table.update(row("oslo0", 3, "still more"))
    logs = log_file_names(table.uri)
    if not logs:
        pytest.skip("the engine has rewritten the base file, so that no group has logs")
    found = table.plan()
    assert plain in found.files
    slices = [slice_ for group in found.plan["inputGroups"] for slice_ in group["slices"] if slice_["fileId"] == logged]
    for slice_ in slices:
        assert sorted(path.rpartition("/")[2] for path in slice_["deltaFilePaths"]) == sorted(logs)


@PLANS
@pytest.mark.requirements("CLU-005", "CLU-014", "CLU-016", "CLU-003")
def test_eight_small_files_become_four(engine: Client, new_uri: NewUri) -> None:
    """CLU-016: the example of the draft, scaled down: with a target of a quarter of all bytes there are four outputs."""
    table = SmallFiles(engine, new_uri())
    files = table.add_groups_of_sizes(*[20_000] * 8)
    target = -(-table.size(files) // 4)
    found = table.plan(planner_settings(target_file_max_bytes=target))
    assert found.group_set == {frozenset(files)}
    assert [group.outputs for group in found.groups] == [4]


@PLANS
@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.requirements("CLU-005", "CLU-019")
def test_groups_are_filled_up_to_their_limit(engine: Client, new_uri: NewUri, parts: int) -> None:
    """CLU-005: every file is in one group; no group exceeds its limit; no group is closed while the next file still fits."""
    table = SmallFiles(engine, new_uri())
    files = table.add_groups_of_sizes(*(n * 3_000 for n in range(1, 10)))
    sizes, most = table.sizes, -(-table.size(files) // parts)
    target = most // 2
    found = table.plan(planner_settings(max_bytes_per_group=most, target_file_max_bytes=target, small_file_limit=target))
    assert found.files == sorted(file for file in files if sizes[file] < target)
    groups = sorted(found.groups, key=lambda group: -max(sizes[file] for file in group.files))
    for group in groups:
        assert table.size(group.files) <= most
        assert group.outputs == -(-table.size(group.files) // target)
    for group, following in pairwise(groups):
        assert table.size(group.files) + max(sizes[file] for file in following.files) > most


@PLANS
@pytest.mark.requirements("CLU-028", "CLU-026")
def test_groups_do_not_span_partitions(engine: Client, new_uri: NewUri) -> None:
    """CLU-028: small files of two partitions are never in one group."""
    table = SmallFiles(engine, new_uri())
    made = {city: frozenset(table.add_groups_of_sizes(10, 10, city=city)) for city in ("oslo", "rio", "lima")}
    assert {group.partition: group.files for group in table.plan().groups} == made


@PLANS
@pytest.mark.requirements("CLU-002", "CLU-031")
def test_the_sort_columns_are_in_the_plan(engine: Client, new_uri: NewUri) -> None:
    """CLU-002: the sort columns are in the parameters of the strategy, under the name of the setting."""
    table = SmallFiles(engine, new_uri())
    table.add_groups_of_sizes(10, 20)
    found = table.plan({SORT: "value,ts"})
    assert found.plan["strategy"]["strategyParams"][SORT] == "value,ts"


#: The ranges of the column `ts` in eight files, and the numbers of those that overlap.
RANGES = {
    "two": ([(0, 5), (10, 15), (20, 25), (30, 35), (40, 45), (24, 29), (60, 65), (70, 75)], {2, 5}),
    "four": ([(0, 5), (100, 103), (20, 25), (101, 104), (102, 105), (50, 55), (103, 106), (70, 75)], {1, 3, 4, 6}),
}


@STRATEGIES
@pytest.mark.parametrize("case", [pytest.param(name, id=name) for name in RANGES])
@pytest.mark.requirements("CLU-015", "CLU-017", "CLU-018", "CLU-002")
def test_files_that_overlap_are_a_group(engine: Client, new_uri: NewUri, case: str) -> None:
    """CLU-017: the examples of the draft, by the statistics in the footers: files that overlap in the sort column are in one
    group, with half as many outputs; eight files become four in all.
    """
    ranges, overlapping = RANGES[case]
    table = SmallFiles(engine, new_uri())
    files = table.add_groups_of_ranges(*ranges)
    target = 2 * max(table.sizes.values())
    found = table.plan({SORT: "ts", **planner_settings(target_file_max_bytes=target, max_bytes_per_group=2 * target)})
    (group,) = (group for group in found.groups if group.files & {files[n] for n in overlapping})
    assert group.files == {files[n] for n in overlapping}
    assert group.outputs == len(overlapping) // 2
    assert found.files == sorted(files) and sum(one.outputs for one in found.groups) == 4


@STRATEGIES
@pytest.mark.requirements("CLU-014", "CLU-004", "CLU-020", "CLU-021")
def test_each_strategy_forms_its_own_groups(engine: Client, new_uri: NewUri) -> None:
    """CLU-021: neighbours by key ranges, by commit time whatever the times of the files, or by size: one table, three plans."""
    table = SmallFiles(engine, new_uri())
    #: The order of keys is a, b, c, d; that of writing c, a, d, b; that of sizes d, a, c, b.
    lengths = {"c": 10_000, "a": 12_000, "d": 12_500, "b": 9_000}
    files = [
        table.add_group(*(row(f"{key}{n}", 1, incompressible_text(f"{key}{n}", size)) for n in range(2)))
        for key, size in lengths.items()
    ]
    for age, path in enumerate(reversed(base_files(table.uri))):
        os.utime(path, (1_000_000_000 + [2, 0, 3, 1][age],) * 2)
    most = planner_settings(max_bytes_per_group=table.size(files[1:3]))

    def planned(strategy: str) -> set[frozenset[str]]:
        found = table.plan({**most, **planner_settings(**{"class": strategy})})
        (table_folder(table.uri) / ".hoodie" / "timeline" / f"{found.instant}.clustering.requested").unlink()
        return found.group_set

    c, a, d, b = files
    assert planned("KeyRangeClusteringPlanStrategy") == {frozenset((a, b)), frozenset((c, d))}
    assert planned("CommitTimeClusteringPlanStrategy") == {frozenset((c, a)), frozenset((d, b))}
    assert planned("SparkSizeBasedClusteringPlanStrategy") == {frozenset((a, d)), frozenset((c, b))}


@STRATEGIES
@pytest.mark.requirements("CLU-022", "CLU-014")
def test_the_random_strategy_puts_each_file_in_one_group(engine: Client, new_uri: NewUri) -> None:
    """CLU-022: the random strategy puts each file into one group for any seed; the same seed gives the same groups, and not all
    seeds do.
    """
    table = SmallFiles(engine, new_uri())
    files = table.add_groups_of_sizes(*[10] * 6)
    most = {
        **planner_settings(max_bytes_per_group=2 * max(table.sizes.values())),
        **planner_settings(**{"class": "RandomClusteringPlanStrategy"}),
    }
    plans = []
    for seed in (1, 1, 2, 3, 4, 5):
        found = table.plan({**most, **planner_settings(random_seed=seed)})
        (table_folder(table.uri) / ".hoodie" / "timeline" / f"{found.instant}.clustering.requested").unlink()
        assert found.files == sorted(files)
        plans.append(found.group_set)
    assert plans[0] == plans[1]
    assert any(plan != plans[0] for plan in plans)


@PLANS
@pytest.mark.requirements("CLU-023", "SVC-004")
def test_a_plan_has_at_most_the_configured_groups(engine: Client, new_uri: NewUri) -> None:
    """CLU-023: with a limit of one each plan has one group; successive plans include every file group once."""
    table = SmallFiles(engine, new_uri())
    files = [file for city in ("oslo", "rio", "lima") for file in table.add_groups_of_sizes(10, 20, city=city)]
    seen: list[str] = []
    for _ in range(3):
        found = table.plan(planner_settings(max_num_groups=1))
        assert len(found.groups) == 1
        seen += found.files
    assert sorted(seen) == sorted(files)
    assert table.try_plan(planner_settings(max_num_groups=1)) is None


@STRATEGIES
@pytest.mark.requirements("CLU-023")
def test_groups_are_ordered_by_the_reduction_of_files(engine: Client, new_uri: NewUri) -> None:
    """CLU-023: the groups that reduce the file count most come first: four files to one, then three, then two; one to one comes
    last.
    """
    table = SmallFiles(engine, new_uri())
    made = {
        city: table.add_groups_of_sizes(*[10] * files, city=city) for city, files in (("a", 1), ("b", 3), ("c", 2), ("d", 4))
    }
    assert [group.partition for group in table.plan(planner_settings(max_num_groups=2)).groups] == ["d", "b"]
    assert [group.partition for group in table.plan().groups] == ["c", "a"]
    assert len(made["a"]) == 1


@PLANS
@pytest.mark.requirements("CLU-010", "CLU-004")
@pytest.mark.parametrize(
    ("options", "right"),
    [
        ({MODE: "RECENT_DAYS"}, {"2025-01-05", "2025-01-04"}),
        ({MODE: "RECENT_DAYS", **planner_settings(daybased_lookback_partitions=1)}, {"2025-01-05"}),
        ({MODE: "RECENT_DAYS", **planner_settings(daybased_skipfromlatest_partitions=1)}, {"2025-01-04", "2025-01-02"}),
        ({MODE: "SELECTED_PARTITIONS",
          **planner_settings(cluster_begin_partition="2025-01-02", cluster_end_partition="2025-01-04")},
         {"2025-01-02", "2025-01-04"}),
        (planner_settings(partition_selected="2025-01-01,2025-01-05"), {"2025-01-01", "2025-01-05"}),
        (planner_settings(partition_regex_pattern=".*-0[14]"), {"2025-01-01", "2025-01-04"}),
    ],
    ids=["the newest two", "the newest", "but not the newest", "a range", "named ones", "matching ones"],
)  # fmt: skip
def test_a_plan_covers_the_selected_partitions_only(
    engine: Client, new_uri: NewUri, options: dict[str, str], right: set[str]
) -> None:
    """CLU-004: the plan has groups of the selected partitions only, in whatever order they were written."""
    table = SmallFiles(engine, new_uri())
    for city in ("2025-01-04", "2025-01-01", "2025-01-05", "2025-01-02"):
        table.add_groups_of_sizes(10, city=city)
    assert {group.partition for group in table.plan(options).groups} == right


@PLANS
@pytest.mark.requirements("CLU-004", "SVC-014")
@pytest.mark.parametrize("setting", ["inline", "async"])
def test_a_plan_is_due_after_the_configured_commits(engine: Client, new_uri: NewUri, setting: str) -> None:
    """SVC-014: if clustering is enabled, the next plan is due four commits after the last one, or after the
    configured number.
    """
    table = SmallFiles(engine, new_uri())
    on = {"inline": {"hoodie.clustering.inline": "true"}, "async": {"hoodie.clustering.async.enabled": "true"}}[setting]
    two = {**on, f"hoodie.clustering.{setting}.max.commits": "2"}
    table.add_groups_of_sizes(10)
    assert table.try_plan(two) is None
    table.add_groups_of_sizes(10, city="rio")
    assert table.try_plan(on) is None
    assert len(table.plan(two).files) == 2
    table.add_groups_of_sizes(10, 20, 30, city="lima")
    assert table.try_plan(on) is None
    table.add_groups_of_sizes(10, city="quito")
    assert len(table.plan(on).files) == 4
    table.add_groups_of_sizes(10, city="cusco")
    assert table.try_plan(two) is None
