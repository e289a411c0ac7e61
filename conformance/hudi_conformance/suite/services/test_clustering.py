"""Clustering: the result of executing a plan, that it changes no answer, and that another process may execute it again."""

import io
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import fastavro
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, TYPES, Step, expect_rows, row
from hudi_conformance.suite.support.tables.archived_tables import archive_limits
from hudi_conformance.suite.support.tables.clustered_tables import (
    CHANGES,
    CLUSTERS,
    GROUP,
    INSERTS,
    LAYOUT,
    PLAN,
    RELAYS,
    SORT,
    TARGET,
    ClusteredTable,
    NewUri,
    Type,
    files_of_clustering,
    insert_many,
    rows_in_file_order,
    sort_keys,
)
from hudi_conformance.suite.support.tables.tables_under_services import (
    copy_golden_table,
    crash_service,
    data_file_names,
    instant_files,
    keep_commits,
    pending_actions,
    read_as_of,
    read_instant_file,
    read_snapshot,
    sort_rows,
)
from hudi_conformance.suite.support.tables.written_tables import base_files, completion_time, table_folder

#: The file group of a crashed clustering.
NEW_GROUP = "deadbeef-0000-4000-8000-000000000001-0"


@CLUSTERS
@BOTH_TYPES
@pytest.mark.needs("read.meta-columns")
@pytest.mark.requirements("CLU-001", "CLU-007", "TL-011", "META-004", "TL-010")
@pytest.mark.leaves_damage("it deletes the replaced files")
def test_a_clustering_moves_rows_to_new_groups(engine: Client, new_uri: NewUri, type: Type) -> None:
    """CLU-001: every file group has a new id, the old ones are replaced, and the rows keep values, keys, commit times and
    sequence numbers.
    """
    table = ClusteredTable(engine, new_uri(), type).write(*INSERTS, *CHANGES)
    before, old = table.rows_with_meta_columns(), {path.name.split("_")[0] for path in base_files(table.uri)}
    instant = table.cluster({SORT: "value,ts"})
    assert table.rows_with_meta_columns() == before
    made = files_of_clustering(table.uri, instant)
    assert made and not old & {path.name.split("_")[0] for path in made}
    assert {row["_hoodie_file_name"] for row in _in_files(made)} == {path.name for path in made}
    table.check_rows("clustered")
    for path in [*table_folder(table.uri).rglob(".*.log.*"), *base_files(table.uri)]:
        if path not in made:
            path.unlink()
    table.write(Step("upsert", (row("a", 50, "later"), row("k", 1, "new"))))
    table.check_rows("written after the clustering, without the old files")


def _in_files(paths: list[Path]) -> list[dict[str, object]]:
    return [found for path in paths for found in rows_in_file_order(path)]


@CLUSTERS
@pytest.mark.requirements("CLU-039", "CLU-040", "CLU-001", "TL-009", "TL-010", "TL-012", "TL-043", "TL-046")
def test_the_completed_clustering_lists_new_and_replaced_files(engine: Client, new_uri: NewUri) -> None:
    """CLU-001: a completed clustering is a replacecommit of operation CLUSTER, with the new files, their sizes and rows, and
    the planned groups as replaced.
    """
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    instant = table.schedule({SORT: "ts"})
    planned = {found["fileId"]: found["partitionPath"] for g in table.plan(instant)["inputGroups"] for found in g["slices"]}
    table.run(phase="execute", instant=instant)
    done = table.completed_metadata(instant)
    assert done["operationType"] == "CLUSTER"
    replaced = {found: partition for partition, ids in done["partitionToReplaceFileIds"].items() for found in ids}
    assert replaced == planned
    stats = [stat for found in done["partitionToWriteStats"].values() for stat in found]
    assert {(stat["path"], stat["fileSizeInBytes"], stat["numWrites"]) for stat in stats} == {
        (f"{path.parent.name}/{path.name}", path.stat().st_size, len(rows_in_file_order(path)))
        for path in files_of_clustering(table.uri, instant)
    }
    assert sum(stat["numInserts"] for stat in stats) == len(table.model.snapshot())
    assert {name.split(".", 1)[1] for name in instant_files(table.uri, "") if name.startswith(instant)} == {
        "clustering.requested", "clustering.inflight", "replacecommit",
    }  # fmt: skip
    assert "schema" in done["extraMetadata"]


@CLUSTERS
@pytest.mark.requirements("CLU-041", "TL-009")
def test_extra_metadata_of_a_clustering_is_ignored(engine: Client, new_uri: NewUri) -> None:
    """CLU-041: with duration and ranges of values among the extra metadata of the completed file, the table can be read and
    written.
    """
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    instant = table.cluster({SORT: "ts"})
    (file,) = (table_folder(table.uri) / ".hoodie" / "timeline").glob(f"{instant}_*.replacecommit")
    reader = fastavro.reader(io.BytesIO(file.read_bytes()))
    done = table.completed_metadata(instant)
    extra = {**done["extraMetadata"], "clustering.duration.ms": "12", "ts.min": "1", "ts.max": "35", "": ""}
    written = io.BytesIO()
    fastavro.writer(written, fastavro.parse_schema(reader.writer_schema), [{**done, "extraMetadata": extra}])
    file.write_bytes(written.getvalue())
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    table.check_rows("with further entries")
    table.write(*CHANGES)
    table.check_rows("written after it")


@CLUSTERS
@pytest.mark.requirements("CLU-035", "TL-035")
def test_the_inflight_file_comes_before_the_first_output(engine: Client, new_uri: NewUri) -> None:
    """CLU-035: any process that sees an output file also sees the inflight file."""
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    instant = table.cluster()
    begun = (table_folder(table.uri) / ".hoodie" / "timeline" / f"{instant}.clustering.inflight").stat().st_mtime_ns
    files = files_of_clustering(table.uri, instant)
    assert files and all(begun <= path.stat().st_mtime_ns for path in files)


@CLUSTERS
@pytest.mark.requirements("CLU-007", "CLU-036")
def test_rows_stay_in_their_clustering_group(engine: Client, new_uri: NewUri) -> None:
    """CLU-007: with several groups in one partition, the rows of each output belong to one of them, and none is missing."""
    table = ClusteredTable(engine, new_uri()).write(*(insert_many(number, 20) for number in range(4)))
    keys = {path.name.split("_")[0]: {row["id"] for row in rows_in_file_order(path)} for path in base_files(table.uri)}
    size = max(path.stat().st_size for path in base_files(table.uri))
    options = {GROUP: str(2 * size + 1000), TARGET: str(2 * size + 1000), SORT: "ts"}
    instant = table.schedule(options)
    groups = [set().union(*(keys[found] for found in group)) for group in table.groups(instant)]
    assert len(groups) > 1
    table.run(phase="execute", instant=instant, options=options)
    found = [{row["id"] for row in rows_in_file_order(path)} for path in files_of_clustering(table.uri, instant)]
    assert all(sum(bool(made & group) for group in groups) == 1 for made in found)
    assert [set().union(*(made for made in found if made & group)) for group in groups] == groups
    table.check_rows("clustered")


@CLUSTERS
@BOTH_TYPES
@pytest.mark.requirements("CLU-008", "CLU-038", "CLU-002", "TL-011")
def test_outputs_are_sorted_by_the_columns_of_the_plan(engine: Client, new_uri: NewUri, type: Type) -> None:
    """CLU-038: the rows of all files of a group are in one order: by the first column, then by the second, nulls first."""
    table = ClusteredTable(engine, new_uri(), type).write(*INSERTS, *CHANGES)
    instant = table.cluster({SORT: "value,ts"})
    for partition in ("oslo", "rio"):
        (made,) = files_of_clustering(table.uri, instant, partition)
        found = sort_keys(rows_in_file_order(made), ("value", "ts"))
        assert found == sorted(found)
    table.check_rows("sorted")


@CLUSTERS
@pytest.mark.requirements("CLU-008", "CLU-009", "CLU-038", "CLU-003", "CLU-016")
def test_a_group_is_sorted_as_a_whole_and_cut_at_the_target_size(engine: Client, new_uri: NewUri) -> None:
    """CLU-038: six files whose values overlap are rewritten to sorted files of the target size, whose ranges do not overlap."""
    table = ClusteredTable(engine, new_uri()).write(*(insert_many(number, 60) for number in range(6)))
    total = sum(path.stat().st_size for path in base_files(table.uri))
    target = total // 3
    options = {SORT: "ts,id", TARGET: str(target), GROUP: str(10 * total)}
    instant = table.schedule(options)
    table.run(phase="execute", instant=instant, options=options)
    made = sorted((sort_keys(rows_in_file_order(path), ("ts", "id")), path) for path in files_of_clustering(table.uri, instant))
    found = [one for part, _ in made for one in part]
    assert found == sorted(found) and len(found) == 360
    sizes = [path.stat().st_size for _, path in made]
    assert len(sizes) in (3, 4)
    assert all(0.7 * target < size < 1.2 * target for size in sizes[:-1])
    table.check_rows("clustered")


@CLUSTERS
@pytest.mark.requirements("CLU-037", "CLU-009", "CLU-003")
def test_without_sort_columns_rows_are_combined(engine: Client, new_uri: NewUri) -> None:
    """CLU-037: the rows of small files are combined in one file, in any order."""
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    assert len(base_files(table.uri)) == 5
    instant = table.cluster()
    assert sorted(path.parent.name for path in files_of_clustering(table.uri, instant)) == ["oslo", "rio"]
    table.check_rows("clustered")


@CLUSTERS
@pytest.mark.parametrize("layout", ["LINEAR", "ZORDER", "HILBERT"])
@pytest.mark.requirements("CLU-008", "TL-011")
def test_every_layout_keeps_the_rows(engine: Client, new_uri: NewUri, layout: str) -> None:
    """TL-011: on every space-filling curve, with nulls in its columns, a snapshot is unchanged."""
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    instant = table.cluster({SORT: "ts,value", LAYOUT: layout})
    assert len(_in_files(files_of_clustering(table.uri, instant))) == len(table.model.snapshot())
    table.check_rows(f"clustered in the layout {layout}")


@CLUSTERS
@pytest.mark.parametrize("layout", ["ZORDER", "HILBERT"])
@pytest.mark.requirements("CLU-008")
def test_a_space_filling_curve_groups_rows_near_in_both_columns(engine: Client, new_uri: NewUri, layout: str) -> None:
    """CLU-008: for a square of 16 by 16 points, each quarter of the file holds one quarter of the square, half of both ranges;
    so does each quarter of a quarter, down to single points. Along Hilbert's curve successive points are neighbours.

    The texts are 16 consecutive characters from 0x40 on, for which curves through ranks and through bits are the same.
    """
    rows = tuple(row(f"{x:02}-{y:02}", x, chr(0x40 + y)) for x in range(16) for y in range(16))
    table = ClusteredTable(engine, new_uri()).write(Step("insert", rows[::2]), Step("insert", rows[1::2]))
    instant = table.cluster({SORT: "ts,value", LAYOUT: layout})
    (made,) = files_of_clustering(table.uri, instant)
    points = [(one["ts"], ord(one["value"]) - 0x40) for one in rows_in_file_order(made)]
    for side in (8, 4, 2):
        for start in range(0, 256, side * side):
            assert len({(x // side, y // side) for x, y in points[start : start + side * side]}) == 1, f"squares of {side}"
    if layout == "HILBERT":
        assert {abs(x - u) + abs(y - v) for (x, y), (u, v) in pairwise(points)} == {1}
    table.check_rows(f"clustered in the layout {layout}")


@CLUSTERS
@BOTH_TYPES
@pytest.mark.parametrize("place", range(1, 5))
@pytest.mark.requirements("TL-011", "CLU-001", "OCC-003")
def test_a_clustering_at_any_time_changes_nothing(engine: Client, new_uri: NewUri, type: Type, place: int) -> None:
    """TL-011: with a clustering at any position, each snapshot is that of the writes alone, with deletes and late rows among
    them.
    """
    steps = (*INSERTS, *CHANGES, Step("upsert", (row("b", 5, "late"), row("c", 60, "back", "rio"), row("g", 90, "last"))))
    table = ClusteredTable(engine, new_uri(), type).write(*steps[:place])
    table.run(options={SORT: "ts"})
    table.check_rows(f"clustered after write {place}")
    table.write(*steps[place:])
    table.check_rows(f"clustered after write {place}, at the end")


@CLUSTERS
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("TYP-008", "TL-011")
def test_time_travel_to_before_a_clustering(engine: Client, new_uri: NewUri) -> None:
    """TYP-008: a read as of each write before it returns the rows of that time, and as of the clustering those of the last
    write.
    """
    table = ClusteredTable(engine, new_uri()).write(*INSERTS, *CHANGES)
    instant = table.cluster({SORT: "ts"})
    for time in table.times:
        asked = Query("as-of", as_of=time, columns=tuple(TYPES))
        expect_rows(engine, table.uri, table.model.as_of(time), f"as of {time}", asked)
    assert read_as_of(engine, table.uri, instant) == read_snapshot(engine, table.uri)


@CLUSTERS
@BOTH_TYPES
@pytest.mark.needs("read.incremental")
@pytest.mark.requirements("TYP-011", "TL-011", "META-004")
def test_incremental_queries_ignore_moved_rows(engine: Client, new_uri: NewUri, type: Type) -> None:
    """TYP-011: a window over the clustering is empty; a window over the last write and the clustering has the rows of that
    write.
    """
    table = ClusteredTable(engine, new_uri(), type).write(*INSERTS, *CHANGES)
    instant = table.cluster({SORT: "ts"})
    asked = Query("incremental", None, instant, columns=tuple(TYPES))
    assert engine.read(table.uri, asked).num_rows == 0
    since = engine.read(table.uri, Query("incremental", None, table.times[-1], columns=("id",)))
    assert since.column("id").to_pylist() == ["a"]
    until = Query("incremental", None, None, completion_time(table.uri, instant), columns=tuple(TYPES))
    assert sort_rows(engine.read(table.uri, until)) == read_snapshot(engine, table.uri)


@CLUSTERS
@pytest.mark.needs("read.cdc")
@pytest.mark.requirements("TYP-011", "TYP-012")
def test_change_capture_ignores_moved_rows(engine: Client, new_uri: NewUri) -> None:
    """TYP-012: a write, a clustering and another write give the changes of the two writes."""
    captures = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER"}
    table = ClusteredTable(engine, new_uri(), properties=captures).write(*INSERTS)
    table.cluster({SORT: "ts"})
    table.write(Step("upsert", (row("a", 60, "second"),)))
    begin = completion_time(table.uri, table.times[-2])
    found = engine.read(table.uri, Query("cdc", None, begin)).to_pylist()
    assert [(one["op"], one["before"]["value"], one["after"]["value"]) for one in found] == [("u", "x", "second")]


@CLUSTERS
@pytest.mark.requirements("SVC-005", "TL-029")
def test_a_plan_is_executed_once(engine: Client, new_uri: NewUri) -> None:
    """SVC-005: a second execution of a completed plan returns a result or an error; files and timeline are unchanged."""
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    instant = table.schedule()
    table.run(phase="execute", instant=instant)
    files, instants = data_file_names(table.uri), instant_files(table.uri)
    with suppress(ContractError):
        table.run(phase="execute", instant=instant)
    assert (data_file_names(table.uri), instant_files(table.uri)) == (files, instants)
    table.check_rows("executed twice")


@CLUSTERS
@pytest.mark.needs("inspect.table")
@pytest.mark.requirements("SVC-005", "SVC-006", "TL-029", "CLU-035")
def test_a_crashed_clustering_is_finished(engine: Client, new_uri: NewUri) -> None:
    """CLU-035: with an inflight file and a base file of the crashed attempt the rows are unchanged; then the plan is executed,
    once.
    """
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    instant = table.schedule()
    left = crash_service(table.uri, instant, "clustering", NEW_GROUP, "CREATE")
    table.check_rows("half done")
    table.run(phase="execute", instant=instant)
    table.check_rows("finished")
    assert not left.exists()
    assert len(files_of_clustering(table.uri, instant)) == 2
    assert pending_actions(engine, table.uri) == []


@CLUSTERS
@pytest.mark.needs("inspect.table", "service.rollback")
@pytest.mark.requirements("TL-050", "SVC-006")
def test_a_crashed_clustering_is_rolled_back(engine: Client, new_uri: NewUri) -> None:
    """TL-050: the rollback deletes the files of the attempt; the plan is requested again, or removed; the groups can still be
    clustered.
    """
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    instant = table.schedule()
    left = crash_service(table.uri, instant, "clustering", NEW_GROUP, "CREATE")
    engine.service(table.uri, "rollback", instant=instant)
    assert not left.exists()
    assert [(one["requested"], one["state"]) for one in pending_actions(engine, table.uri)] in ([], [(instant, "REQUESTED")])
    table.check_rows("rolled back")
    table.cluster()
    table.check_rows("clustered")
    assert pending_actions(engine, table.uri) == []


@CLUSTERS
@pytest.mark.needs("inspect.table", "service.rollback")
@pytest.mark.requirements("TL-050", "TL-019", "SVC-009")
def test_a_rollback_removes_a_requested_plan(engine: Client, new_uri: NewUri) -> None:
    """TL-019: the plan is removed from the timeline, no row changes, and its file groups can be written again."""
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    instant = table.schedule()
    rollback = engine.service(table.uri, "rollback", instant=instant)
    assert rollback is not None
    assert pending_actions(engine, table.uri) == []
    assert not [name for name in instant_files(table.uri) if name.startswith(instant)]
    assert read_instant_file(table.uri, rollback, "rollback")[1]["commitsRollback"] == [instant]
    table.check_rows("withdrawn")
    table.write(*CHANGES)
    table.check_rows("written")


@CLUSTERS
@pytest.mark.needs("service.clean")
@pytest.mark.requirements("CLN-006", "TL-010", "RDR-010")
def test_replaced_groups_are_cleaned_when_not_needed(engine: Client, new_uri: NewUri) -> None:
    """RDR-010: a clean that keeps the clustering readable keeps the old files; later cleans delete them, and no row
    is missing.
    """
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    old = data_file_names(table.uri)
    instant = table.cluster()
    engine.service(table.uri, "clean", options=keep_commits(2))
    assert old & data_file_names(table.uri)
    table.write(*CHANGES, Step("upsert", (row("a", 90, "again"),)))
    engine.service(table.uri, "clean", options=keep_commits(1))
    assert not old & data_file_names(table.uri)
    assert {path.name for path in files_of_clustering(table.uri, instant)} - data_file_names(table.uri) == set()
    table.check_rows("cleaned")


@CLUSTERS
@pytest.mark.needs("service.archive", "service.clean", "inspect.table")
@pytest.mark.requirements("ARC-005", "RDR-010", "TL-010")
def test_a_clustering_is_not_archived_before_its_old_groups_are_cleaned(engine: Client, new_uri: NewUri) -> None:
    """RDR-010: while replaced files exist the replacecommit stays active; archived after a clean, it hides no existing file."""
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    instant = table.cluster()
    updates = [Step("upsert", (row("a", 100 + number, f"update {number}"),)) for number in range(6)]
    table.write(*updates[:4], options={"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"})
    engine.service(table.uri, "archive", options=archive_limits(3, 2))
    assert table.is_done(instant)
    table.check_rows("archived, not cleaned")
    engine.service(table.uri, "clean", options=keep_commits(1))
    table.write(*updates[4:], options={"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"})
    engine.service(table.uri, "archive", options=archive_limits(3, 2))
    table.check_rows("archived after a clean")


@CLUSTERS
@BOTH_TYPES
@pytest.mark.needs("service.rollback", "inspect.table")
@pytest.mark.requirements("TL-019", "TL-020", "TL-010")
def test_a_completed_clustering_is_rolled_back(engine: Client, new_uri: NewUri, type: Type) -> None:
    """TL-010: after the rollback of a clustering its files are deleted, the old groups are read again, and no instant of it is
    on the timeline.
    """
    table = ClusteredTable(engine, new_uri(), type).write(*INSERTS, *CHANGES)
    before = data_file_names(table.uri)
    instant = table.cluster({SORT: "ts"})
    engine.service(table.uri, "rollback", instant=instant)
    table.check_rows("rolled back")
    assert data_file_names(table.uri) == before
    assert not table.is_done(instant)


@CLUSTERS
@pytest.mark.needs("service.savepoint", "service.restore", "service.clean", "inspect.table")
@pytest.mark.requirements("TL-023", "TL-021", "CLN-002")
def test_a_savepoint_before_a_clustering_is_restored(engine: Client, new_uri: NewUri) -> None:
    """TL-023: the files of the savepoint are kept by clustering and clean; after the restore the rows of that time are read
    again.
    """
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    rows, saved = read_snapshot(engine, table.uri), data_file_names(table.uri)
    engine.service(table.uri, "savepoint", instant=table.times[-1])
    instant = table.cluster()
    table.write(*CHANGES, Step("upsert", (row("a", 90, "again"),)))
    engine.service(table.uri, "clean", options=keep_commits(1))
    assert saved <= data_file_names(table.uri)
    table.check_rows("cleaned")
    engine.service(table.uri, "restore", instant=table.times[-3])
    assert read_snapshot(engine, table.uri) == rows
    assert not table.is_done(instant)


@CLUSTERS
@pytest.mark.requirements("SVC-014")
def test_writers_do_not_cluster_by_default(engine: Client, new_uri: NewUri) -> None:
    """SVC-014: without a setting no commit triggers a clustering."""
    table = ClusteredTable(engine, new_uri())
    table.write(*(Step("insert", (row(f"k{number}", 1, "x"),)) for number in range(6)))
    assert len({name for name in instant_files(table.uri, "commit") if name.endswith(".commit")}) == 6
    assert instant_files(table.uri, "clustering") == set()


@CLUSTERS
@pytest.mark.requirements("SVC-013", "SVC-014")
def test_inline_clustering_equals_the_service(engine: Client, new_uri: NewUri) -> None:
    """SVC-013: with inline clustering after two commits, rows, plans, file counts and metadata are those of a service."""
    found = []
    for inline in (True, False):
        table = ClusteredTable(engine, new_uri()).write(INSERTS[0])
        options = {SORT: "ts"}
        if inline:
            asked = {**options, "hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "2"}
            table.write(INSERTS[1], options=asked)
        else:
            table.write(INSERTS[1]).run(options=options)
        table.check_rows("clustered")
        (instant,) = {name.split(".")[0] for name in instant_files(table.uri, "clustering.requested")}
        plan, done = table.plan(instant), table.completed_metadata(instant)
        rows = sorted([one["id"] for one in rows_in_file_order(path)] for path in files_of_clustering(table.uri, instant))
        found.append((len(plan["inputGroups"]), done["operationType"], rows))
    assert found[0] == found[1]


@RELAYS
@BOTH_TYPES
@pytest.mark.requirements("SVC-015", "CLU-001", "TL-012")
def test_one_engine_plans_and_another_clusters(writer: Client, reader: Client, new_uri: NewUri, type: Type) -> None:
    """SVC-015: the plan on the timeline is all that the executor needs, by any process; then both engines read the
    same rows.
    """
    table = ClusteredTable(writer, new_uri(), type).write(*INSERTS, *CHANGES)
    instant = table.schedule({SORT: "value,ts"})
    assert table.run(reader, phase="execute", instant=instant, options={SORT: "value,ts"}) == instant
    for one in (reader, writer):
        table.check_rows(f"planned by {writer.name}, clustered by {reader.name}, read by {one.name}", one)
    for partition in ("oslo", "rio"):
        for path in files_of_clustering(table.uri, instant, partition):
            found = sort_keys(rows_in_file_order(path), ("value", "ts"))
            assert found == sorted(found)
    table.write(Step("upsert", (row("a", 95, "after"),)))
    table.check_rows("written after", reader)


@RELAYS
@pytest.mark.needs("inspect.table", writer=("service.rollback",))
@pytest.mark.requirements("SVC-015", "SVC-006", "TL-029")
def test_one_engine_crashes_and_another_finishes(writer: Client, reader: Client, new_uri: NewUri) -> None:
    """TL-029: files of a crashed attempt of one engine add no row to the table, before and after another engine has finished
    it.
    """
    table = ClusteredTable(writer, new_uri()).write(*INSERTS)
    instant = table.schedule()
    left = crash_service(table.uri, instant, "clustering", NEW_GROUP, "CREATE")
    for one in (reader, writer):
        table.check_rows(f"half done, read by {one.name}", one)
    table.run(reader, phase="execute", instant=instant)
    assert not left.exists()
    for one in (reader, writer):
        table.check_rows(f"finished by {reader.name}, read by {one.name}", one)


@pytest.mark.needs("read.snapshot", "read.projection", "merge-on-read", "merge.event-time", "log.avro", "log.only-slices")
@pytest.mark.needs("service.clustering", "clustering.plan-strategies")
@pytest.mark.parametrize("strategy", ["KeyRange", "Overlap", "CommitTime"])
@pytest.mark.requirements("CLU-013", "CLU-021", "LAY-022")
def test_file_groups_of_logs_alone_keep_their_rows(engine: Client, tmp_path: Path, strategy: str) -> None:
    """CLU-013: log files have no range of keys in a footer; file groups without base file are clustered with their rows, or
    left as they are.
    """
    uri, _ = copy_golden_table("log.only-logs", tmp_path)
    before = read_snapshot(engine, uri, ("id", "ts", "name"))
    engine.service(uri, "clustering", options={f"{PLAN}class": f"{strategy}ClusteringPlanStrategy"})
    assert read_snapshot(engine, uri, ("id", "ts", "name")) == before != []


@CLUSTERS
@BOTH_TYPES
@pytest.mark.requirements("CLU-008")
@pytest.mark.parametrize("columns", ["absent", "value,absent"])
def test_a_sort_column_that_is_not_there(engine: Client, new_uri: NewUri, type: Type, columns: str) -> None:
    """CLU-008: the table lacks a sort column. No plan is published, because none could be executed and writers would wait for
    it for ever: the rows stay, and a write to the same file groups succeeds.
    """
    only_engines_of_this_project(engine, "whether a plan that cannot be executed is published")
    table = ClusteredTable(engine, new_uri(), type).write(*INSERTS)
    with pytest.raises(ContractError):
        table.cluster({SORT: columns})
    table.check_rows("after the clustering")
    assert not instant_files(table.uri, "clustering")
    table.write(*CHANGES).check_rows("after another write")
