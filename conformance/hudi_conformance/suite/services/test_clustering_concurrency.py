"""Clustering beside writers and other services: if two actions change one file group, one aborts, and no change is lost."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import Conflict, ContractError
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project, only_in_process
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS, begin_write
from hudi_conformance.suite.support.concurrent.slow_writers import OPTIMISTIC, SlowWriter
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, expect_rows, row
from hudi_conformance.suite.support.tables.clustered_tables import (
    ALLOW,
    CHANGES,
    CLUSTERS,
    INSERTS,
    PLAN,
    REJECT,
    SORT,
    WITHDRAW,
    ClusteredTable,
    NewUri,
    Type,
    files_of_clustering,
)
from hudi_conformance.suite.support.tables.tables_to_cluster import plan_clustering
from hudi_conformance.suite.support.tables.tables_under_services import data_file_names, instant_files, pending_actions
from hudi_conformance.suite.support.tables.written_tables import base_files
from hudi_reference import open_table
from hudi_reference.errors import WriteConflict
from hudi_reference.services.rollback.rollback import schedule_rollback

#: A write (B begins, E ends) and a clustering (P is planned, X executed) in every order.
ORDERS = ("BEPX", "BPEX", "BPXE", "PBEX", "PBXE", "PXBE")
#: The action that completes: of two that overlap, the first to complete.
SURVIVORS = {"BEPX": "EX", "BPEX": "E", "BPXE": "X", "PBEX": "E", "PBXE": "X", "PXBE": "EX"}


@CLUSTERS
@BOTH_TYPES
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.requirements("SVC-009", "OCC-016", "SVC-001", "OCC-013")
def test_a_write_and_a_clustering_in_every_order(engine: Client, new_uri: NewUri, type: Type, order: str) -> None:
    """OCC-016: a write by the reference and a clustering change the same file group: the first to complete succeeds, and the
    other one detects the conflict. No change is lost, and none is there twice.
    """
    table = ClusteredTable(engine, new_uri(), type).write(*INSERTS)
    late, found = (row("a", 90, "late"), row("k", 90, "new", "rio")), dict[str, Any]()

    def end() -> None:
        found["write"].complete()
        table.model.apply("upsert", late, found["write"].instant)

    steps: dict[str, Callable[[], object]] = {
        "B": lambda: found.update(write=begin_write(table.uri, late)),
        "E": end,
        "P": lambda: found.update(plan=table.schedule({SORT: "ts"})),
        "X": lambda: table.run(phase="execute", instant=found["plan"]),
    }
    completed = ""
    for place, step in enumerate(order, 1):
        try:
            steps[step]()
            completed += step
        except (ContractError, WriteConflict):
            assert step in "EX"
        table.check_rows(f"after {order[:place]} of {order}")
    assert "".join(sorted(set(completed) & set("EX"))) == SURVIVORS[order]
    assert table.is_done(found["plan"]) == ("X" in SURVIVORS[order])


@CLUSTERS
@BOTH_TYPES
@pytest.mark.needs("inspect.table")
@pytest.mark.requirements("SVC-009", "CLU-013")
def test_a_clustering_aborts_if_its_groups_were_updated(engine: Client, new_uri: NewUri, type: Type) -> None:
    """SVC-009: a writer whose settings allow it completes despite the plan. The clustering does not complete, leaves no file,
    and the update is in the snapshot; another clustering then includes it.
    """
    table = ClusteredTable(engine, new_uri(), type).write(*INSERTS)
    instant = table.schedule({SORT: "ts"})
    table.write(*CHANGES, options={**SEVERAL_WRITERS, **ALLOW})
    table.check_rows("updated beside a plan")
    with pytest.raises(ContractError):
        table.run(phase="execute", instant=instant)
    assert not table.is_done(instant)
    assert files_of_clustering(table.uri, instant) == []
    table.check_rows("the clustering gave up")
    table.cluster({SORT: "ts"})
    table.check_rows("clustered with the update")
    assert pending_actions(engine, table.uri) == []


@CLUSTERS
@pytest.mark.requirements("SVC-009", "OCC-016")
def test_by_default_a_write_to_planned_groups_is_refused(engine: Client, new_uri: NewUri) -> None:
    """OCC-016: the write fails and leaves no trace; writes to other groups succeed, and so does the clustering."""
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    instant = table.schedule({SORT: "ts"})
    rows = table.model.snapshot()
    with pytest.raises(ContractError) as failure:
        table.write(*CHANGES, options=SEVERAL_WRITERS)
    assert isinstance(failure.value, Conflict) or "lustering" in str(failure.value)
    expect_rows(engine, table.uri, rows, "after a refused write")
    table.write(Step("insert", (row("m", 1, "new"),)), options=SEVERAL_WRITERS)
    table.run(phase="execute", instant=instant)
    table.check_rows("clustered")
    table.write(*CHANGES, options=SEVERAL_WRITERS)
    table.check_rows("the same write after the clustering")


@CLUSTERS
@pytest.mark.needs("inspect.table")
@pytest.mark.requirements("SVC-009", "TL-019")
def test_a_writer_may_roll_back_a_conflicting_plan(engine: Client, new_uri: NewUri) -> None:
    """TL-019: if configured, a writer rolls the pending plan back and completes; no instant of the plan is left on the
    timeline.
    """
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    instant = table.schedule({SORT: "ts"})
    table.write(*CHANGES, options={**SEVERAL_WRITERS, **WITHDRAW})
    table.check_rows("written")
    assert instant not in [one["requested"] for one in pending_actions(engine, table.uri)]
    assert not table.is_done(instant)


@CLUSTERS
@pytest.mark.needs("inspect.table")
@pytest.mark.parametrize("cities", [("oslo",), ("rio",), ("oslo", "rio")], ids=",".join)
@pytest.mark.requirements("SVC-009", "TL-019", "OCC-016")
def test_a_writer_rolls_back_the_plans_of_its_file_groups(engine: Client, new_uri: NewUri, cities: tuple[str, ...]) -> None:
    """SVC-009: a clustering is planned for each of two partitions. A writer that may roll plans back removes those of the file
    groups that it changes, all of them, and no other; the others are executed.
    """
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    plans = {city: table.schedule({SORT: "ts", f"{PLAN}partition.selected": city}) for city in ("oslo", "rio")}
    rows = tuple(row("a" if city == "oslo" else "c", 90, "changed", city) for city in cities)
    table.write(Step("upsert", rows), options={**SEVERAL_WRITERS, **WITHDRAW})
    table.check_rows("written")
    left = {one["requested"] for one in pending_actions(engine, table.uri)}
    assert left == {plan for city, plan in plans.items() if city not in cities}
    for plan in left:
        table.run(phase="execute", instant=plan)
    table.check_rows("clustered")
    assert {plan for plan in plans.values() if table.is_done(plan)} == left


@CLUSTERS
@pytest.mark.needs("inspect.table")
@pytest.mark.requirements("SVC-009", "OCC-016")
def test_a_writer_that_refuses_to_write_rolls_no_plan_back(engine: Client, new_uri: NewUri) -> None:
    """OCC-016: the update strategy of the writer rejects writes to planned file groups. The write fails also where conflicting
    plans are to be rolled back, and the plan stays and is executed.
    """
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    instant = table.schedule({SORT: "ts"})
    rows = table.model.snapshot()
    with pytest.raises(ContractError):
        table.write(*CHANGES, options={**SEVERAL_WRITERS, **WITHDRAW, **REJECT})
    expect_rows(engine, table.uri, rows, "after a refused write")
    assert instant in [one["requested"] for one in pending_actions(engine, table.uri)]
    table.run(phase="execute", instant=instant)
    table.check_rows("clustered")


@CLUSTERS
@pytest.mark.needs("service.compaction", "merge-on-read")
@pytest.mark.parametrize("first", ["compaction", "clustering"])
@pytest.mark.requirements("SVC-010", "SVC-004", "CLU-012")
def test_a_group_is_in_one_plan_at_a_time(engine: Client, new_uri: NewUri, first: str) -> None:
    """SVC-010: of compaction and clustering, the second planner leaves out the groups of the first; both complete."""
    table = ClusteredTable(engine, new_uri(), "MERGE_ON_READ").write(INSERTS[0], Step("upsert", (row("a", 40, "logged"),)))
    due = {"hoodie.compact.inline.max.delta.commits": "1"}
    found: dict[str, str | None] = {}
    for service in sorted(("compaction", "clustering"), key=lambda name: name != first):
        found[service] = engine.service(table.uri, service, phase="schedule", options=due)  # type: ignore[arg-type]
        table.check_rows(f"{service} planned")
    assert found[first] is not None
    assert first == "compaction" or found["compaction"] is None, "a group with logs is in two plans"
    for service, instant in found.items():
        if instant is not None:
            engine.service(table.uri, service, phase="execute", instant=instant, options=due)  # type: ignore[arg-type]
            table.check_rows(f"{service} carried out")
    logged = next(path.name.split("_")[0] for path in base_files(table.uri) if path.parent.name == "oslo")
    planned = set().union(*table.groups(found["clustering"])) if found["clustering"] else set[str]()
    assert (logged in planned) == (first == "clustering")


@CLUSTERS
@pytest.mark.needs("service.compaction", "merge-on-read")
@pytest.mark.requirements("SVC-011", "RDR-010", "CLU-013")
def test_a_clustering_completes_despite_a_planned_compaction(engine: Client, new_uri: NewUri) -> None:
    """SVC-011: both are planned for one group, as is possible without a lock. The clustering reads the log files that the
    compaction plan names, too. Whether the compaction then completes or aborts, no row of the replaced group is read again.
    """
    table = ClusteredTable(engine, new_uri(), "MERGE_ON_READ").write(INSERTS[0], Step("upsert", (row("a", 40, "logged"),)))
    due = {"hoodie.compact.inline.max.delta.commits": "1"}
    compaction = engine.service(table.uri, "compaction", phase="schedule", options=due)
    (base,) = [path for path in base_files(table.uri) if path.parent.name == "oslo"]
    plan_clustering(table.uri, "oslo", base, log_files_in_oslo(table.uri))
    (clustering,) = [one["requested"] for one in pending_actions(engine, table.uri) if one["action"] == "clustering"]
    table.run(phase="execute", instant=clustering)
    table.check_rows("clustered")
    with suppress(ContractError):
        engine.service(table.uri, "compaction", phase="execute", instant=compaction, options=due)
    table.check_rows("compacted")


def log_files_in_oslo(uri: str) -> list[Path]:
    """Return the log files of the partition oslo."""
    return [path for path in base_files(uri)[0].parents[1].joinpath("oslo").iterdir() if ".log." in path.name]


@CLUSTERS
@pytest.mark.needs("service.clean")
@pytest.mark.requirements("CLN-002", "SVC-008")
def test_a_clean_keeps_the_inputs_of_a_plan(engine: Client, new_uri: NewUri) -> None:
    """SVC-008: under any policy, files of groups in a pending clustering plan stay until it is executed."""
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    before = data_file_names(table.uri)
    instant = table.schedule()
    table.write(*(Step("insert", (row(f"k{number}", 1, "x"),)) for number in range(3)), options=SEVERAL_WRITERS)
    engine.service(table.uri, "clean", options={"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS",
                                                "hoodie.clean.fileversions.retained": "1"})  # fmt: skip
    assert before <= data_file_names(table.uri)
    table.run(phase="execute", instant=instant)
    table.check_rows("cleaned, then clustered")


@CLUSTERS
@BOTH_TYPES
@pytest.mark.requirements("SVC-006", "TL-019", "TL-050")
def test_a_withdrawal_of_another_process_is_finished(engine: Client, new_uri: NewUri, type: Type) -> None:
    """SVC-006: a process crashed when it had planned the rollback of a clustering plan. The next clustering completes the
    rollback instead of the plan, and plans again.
    """
    only_engines_of_this_project(engine, "which service completes a pending rollback")
    table = ClusteredTable(engine, new_uri(), type).write(*INSERTS, *CHANGES)
    withdrawn = table.schedule({SORT: "ts"})
    rollback = schedule_rollback(open_table(table.uri), withdrawn)
    instant = table.cluster({SORT: "ts"})
    assert instant != withdrawn and table.is_done(instant) and not table.is_done(withdrawn)
    assert pending_actions(engine, table.uri) == []
    assert {name[:17] for name in instant_files(table.uri, "rollback")} == {rollback}
    table.check_rows("clustered by the second plan")


@CLUSTERS
@pytest.mark.needs("inspect.table", "copy-on-write")
@pytest.mark.requirements("SVC-014", "SVC-013")
def test_a_writer_may_plan_without_clustering(engine: Client, new_uri: NewUri) -> None:
    """SVC-014: with the setting for it, a write is followed by the plan of a clustering and not by its execution. The plan
    stays requested until a process executes it.
    """
    table = ClusteredTable(engine, new_uri()).write(INSERTS[0])
    planning = {"hoodie.clustering.schedule.inline": "true", "hoodie.clustering.async.max.commits": "1", SORT: "ts"}
    table.write(INSERTS[1], options=planning)
    (plan,) = (one for one in pending_actions(engine, table.uri) if one["action"] == "clustering")
    assert not instant_files(table.uri, "clustering.inflight") and not table.is_done(plan["requested"])
    table.check_rows("planned")
    table.run(phase="execute", instant=plan["requested"])
    assert table.is_done(plan["requested"])
    table.check_rows("clustered")


@CLUSTERS
@pytest.mark.needs("inspect.table")
@pytest.mark.requirements("SVC-009", "TL-020", "SVC-006")
def test_a_writer_finishes_the_withdrawal_of_another_process(engine: Client, new_uri: NewUri) -> None:
    """TL-020: a process crashed when it had planned the rollback of a clustering plan. A writer that may roll this plan back
    executes that rollback, and plans no other one: none stays pending.
    """
    only_engines_of_this_project(engine, "which service completes a pending rollback")
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    plan = table.schedule({SORT: "ts"})
    planned = schedule_rollback(open_table(table.uri), plan)
    table.write(*CHANGES, options={**SEVERAL_WRITERS, **WITHDRAW})
    table.check_rows("written")
    assert pending_actions(engine, table.uri) == []
    assert {name[:17] for name in instant_files(table.uri, "rollback")} == {planned}


@CLUSTERS
@pytest.mark.requirements("SVC-009", "TL-019", "TL-050")
def test_a_clustering_that_completes_before_its_withdrawal_stays(engine: Client, new_uri: NewUri) -> None:
    """SVC-009: a writer may roll back the plan of a clustering, which completes before the writer has the lock of the table.
    The clustering stays; the write changes its new file groups, or fails and changes nothing.
    """
    only_in_process(engine)
    table = ClusteredTable(engine, new_uri()).write(*INSERTS)
    plan = table.schedule({SORT: "ts"})
    rows = (row("a", 90, "changed"),)
    slow = SlowWriter(table.uri, lambda: table.run(phase="execute", instant=plan), "plan", {**OPTIMISTIC, **WITHDRAW})
    found = slow.outcome(rows)
    if isinstance(found, str):
        table.model.apply("upsert", rows, found)
    assert table.is_done(plan)
    table.check_rows("after both")
