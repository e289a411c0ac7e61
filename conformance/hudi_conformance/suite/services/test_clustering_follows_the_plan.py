"""The executor of a clustering follows the plan: neither its own settings nor informative entries of the plan matter."""

import io
from collections.abc import Callable, Mapping

import fastavro
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.programs.write_programs import expect_rows, row
from hudi_conformance.suite.support.tables.tables_to_cluster import (
    FILES,
    LARGE,
    PLANS,
    SORT,
    NewUri,
    Planned,
    SmallFiles,
    planner_settings,
)
from hudi_conformance.suite.support.tables.tables_under_services import Json, data_file_names, instant_files, read_instant_file
from hudi_conformance.suite.support.tables.tables_with_logs import base_files_of_instant, read_base_file
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import open_table
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.clean.clean import clean
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.clustering.plan_record import parse_clustering_plan
from hudi_reference.timeline.history.archived import plan_of

CLUSTERS = pytest.mark.needs(*FILES, "read.snapshot", "read.projection")


def edit_plan(table: SmallFiles, found: Planned, change: Callable[[Json], None]) -> None:
    """Change the record in the requested file of a plan, and keep its schema."""
    file = table_folder(table.uri) / ".hoodie" / "timeline" / f"{found.instant}.clustering.requested"
    reader = fastavro.reader(io.BytesIO(file.read_bytes()))
    (record,) = reader
    change(record)
    out = io.BytesIO()
    assert reader.writer_schema is not None
    fastavro.writer(out, reader.writer_schema, [record])
    file.write_bytes(out.getvalue())
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def three_groups(engine: Client, uri: str) -> SmallFiles:
    """Return three file groups whose rows have different orders by `ts`, by `value` and by key."""
    table = SmallFiles(engine, uri)
    table.add_group(row("a", 5, "m"), row("b", 1, "z"))
    table.add_group(row("c", 9, "b"), row("d", 3, "d"))
    table.add_group(row("e", 7, "x"), row("f", 2, "c"))
    return table


@CLUSTERS
@pytest.mark.requirements("CLU-031", "CLU-002", "CLU-008")
def test_the_sort_columns_are_those_of_the_plan(engine: Client, new_uri: NewUri) -> None:
    """CLU-002: the executor has another setting, or none: rows are sorted as planned."""
    for later in ({SORT: "value"}, {}):
        table = three_groups(engine, new_uri())
        found = table.plan({SORT: "ts"})
        table.execute(found.instant, later)
        (made,) = base_files_of_instant(table.uri, found.instant)
        assert pq.ParquetFile(made).read(["ts"]).column("ts").to_pylist() == [1, 2, 3, 5, 7, 9]


@CLUSTERS
@pytest.mark.requirements("CLU-030", "CLU-009")
def test_the_size_of_outputs_is_that_of_the_plan(engine: Client, new_uri: NewUri) -> None:
    """CLU-009: planned for two files and executed with a much larger target size: there are two."""
    table = SmallFiles(engine, new_uri())
    files = table.add_groups_of_sizes(*[40_000] * 4)
    found = table.plan(planner_settings(target_file_max_bytes=-(-table.size(files) // 2)))
    assert [group.outputs for group in found.groups] == [2]
    table.execute(found.instant, planner_settings(target_file_max_bytes=LARGE))
    assert len(base_files_of_instant(table.uri, found.instant)) == 2
    expect_rows(engine, table.uri, table.model.snapshot(), "clustered")


@PLANS
@pytest.mark.requirements("CLU-030")
def test_a_plan_without_a_target_size_uses_one_gibibyte(engine: Client, new_uri: NewUri) -> None:
    """CLU-030: if a plan has no target size, the executor uses 1073741824 bytes."""
    table = SmallFiles(engine, new_uri())
    table.add_groups_of_sizes(10, 20)
    found = table.plan()
    assert parse_clustering_plan(found.record).target_size == 1073741824
    assert [group.outputs for group in found.groups] == [1]


@CLUSTERS
@pytest.mark.requirements("CLU-034", "CLU-029")
@pytest.mark.parametrize(
    "metrics", [None, {}, {"TOTAL_IO_MB": -1.0, "min.ts": 100.0, "max.ts": 200.0}], ids=["null", "none", "false"]
)
def test_metrics_of_a_plan_are_ignored(engine: Client, new_uri: NewUri, metrics: Mapping[str, float] | None) -> None:
    """CLU-029: with any metrics in the plan, and without any, all rows are in the new files."""
    table = three_groups(engine, new_uri())

    def change(record: Json) -> None:
        for group in record["clusteringPlan"]["inputGroups"]:
            group["metrics"] = metrics

    found = table.plan({SORT: "ts"})
    edit_plan(table, found, change)
    table.execute(found.instant)
    assert sum(len(read_base_file(path)) for path in base_files_of_instant(table.uri, found.instant)) == 6
    expect_rows(engine, table.uri, table.model.snapshot(), "clustered")


@CLUSTERS
@pytest.mark.requirements("CLU-033")
def test_a_plan_of_an_unknown_version_is_not_executed(engine: Client, new_uri: NewUri) -> None:
    """CLU-033: a plan of an unknown version is an error or a refusal, no file is created, and the rows are unchanged."""
    table = three_groups(engine, new_uri())
    found, files = table.plan(), data_file_names(table.uri)
    edit_plan(table, found, lambda record: record["clusteringPlan"].update(version=9))
    with pytest.raises(ContractError):
        table.execute(found.instant)
    assert data_file_names(table.uri) == files
    assert instant_files(table.uri, "replacecommit") == set()
    expect_rows(engine, table.uri, table.model.snapshot(), "not clustered")


@CLUSTERS
@pytest.mark.requirements("CLU-025")
def test_a_plan_without_groups_blocks_nothing(engine: Client, new_uri: NewUri) -> None:
    """CLU-025: while a plan with null as its groups is pending, the rows can be read, and all file groups are available for the
    next plan.
    """
    table = three_groups(engine, new_uri())
    found = table.plan()
    edit_plan(table, found, lambda record: record["clusteringPlan"].update(inputGroups=None))
    expect_rows(engine, table.uri, table.model.snapshot(), "with a plan of nothing")
    assert table.plan().files == found.files


@pytest.mark.needs(*FILES, "read.snapshot", "read.projection")
@pytest.mark.requirements("CLU-032")
def test_extra_metadata_of_a_plan_is_kept(engine: Client, new_uri: NewUri) -> None:
    """CLU-032: extra metadata that the reference got when it planned is still in the requested file after an engine has
    executed the plan, and in the history.
    """
    table = three_groups(engine, new_uri())
    given = {"asked by": "a user", "": "empty"}
    instant = schedule_clustering(open_table(table.uri), extra_metadata=given)
    assert instant is not None
    table.execute(instant)
    _, record = read_instant_file(table.uri, instant, "clustering.requested")
    assert record["clusteringPlan"]["extraMetadata"] == given
    expect_rows(engine, table.uri, table.model.snapshot(), "clustered")
    for number in range(3):
        table.add_group(row(f"more{number}", 1, "x"))
    clean(
        open_table(table.uri), {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}
    )
    archive(open_table(table.uri), {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"})
    (action,) = open_table(table.uri).timeline.archived.actions(instant, instant)
    plan = plan_of(action, "the history")
    assert plan is not None and plan["clusteringPlan"]["extraMetadata"] == given
