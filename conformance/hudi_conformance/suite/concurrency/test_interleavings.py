"""Every order of the requests of two or three processes, within bounds: no invariant is violated, also when a process crashes.

Only an engine in this process can be scheduled request by request. Larger bounds: `hudi-conformance explore --preemptions 2`.
"""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.explored_scenarios import explore_scenario, parametrize_scenarios

#: Each scenario runs on a table of one version, drawn from the seed.
pytestmark = pytest.mark.versions(8, 9)


@pytest.mark.requirements(
    "OCC-001", "OCC-002", "OCC-004", "OCC-005", "OCC-010", "OCC-012", "OCC-013", "OCC-014", "OCC-019", "OCC-022", "OCC-025",
    "S3-007", "TT-003", "TT-004", "LOCK-001",
)  # fmt: skip
@parametrize_scenarios("two-*")
@pytest.mark.long
def test_concurrent_writers_are_serializable(engine: Client, name: str, drawn_version: int) -> None:
    """OCC-013: the result of two writers, of one file group or of two, with log or base files, is that of one order of both."""
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("OCC-011", "OCC-001")
@parametrize_scenarios("three-writers")
@pytest.mark.long
def test_conflict_detection_covers_writes_begun_earlier(engine: Client, name: str, drawn_version: int) -> None:
    """OCC-001: conflict detection covers a write that was requested before another one began, with three writers in every
    order.
    """
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("OCC-026")
@parametrize_scenarios("optimistic-writer-*")
@pytest.mark.long
def test_a_clean_does_not_roll_back_writers_with_heartbeats(engine: Client, name: str, drawn_version: int) -> None:
    """OCC-026: a clean that looks for expired heartbeats does not roll back an active writer, in every order of their
    requests.
    """
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("NBC-002", "NBC-007", "SVC-001", "SVC-002", "SVC-011", "LCP-005")
@parametrize_scenarios("writer-and-compaction*", "writer-and-log-compaction")
@pytest.mark.long
def test_logs_are_read_once_during_compactions(engine: Client, name: str, drawn_version: int) -> None:
    """SVC-001: a log file is read once while a compaction is planned or executed, or beside a log compaction, in
    every order.
    """
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("NBC-001", "NBC-002", "NBC-003", "NBC-004", "NBC-007")
@parametrize_scenarios("non-blocking-*")
@pytest.mark.long
def test_non_blocking_writers_lose_no_update(engine: Client, name: str, drawn_version: int) -> None:
    """NBC-001: two non-blocking writers write events of one key, known or new; one runs beside a compaction, a log compaction
    or an overwrite. Logs complete beside logs and log compactions, the greatest event wins, and replaced groups stay replaced.
    """
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("OCC-013", "OCC-016", "RDR-010", "TL-039")
@parametrize_scenarios("*-and-overwrite", "overwrite-and-overwrite", "writer-and-deletion")
@pytest.mark.long
def test_replacements_and_writes_are_serializable(engine: Client, name: str, drawn_version: int) -> None:
    """TL-039: an overwrite beside a writer, another overwrite or a service, and the deletion of a partition beside a writer,
    give the result of one order: no writer changes what another one has replaced, or replaces what it has not read.
    """
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("OCC-016", "SVC-009")
@parametrize_scenarios("writer-and-clustering", "clustering-and-tolerated-*")
@pytest.mark.long
def test_clusterings_and_writes_of_one_group_conflict(engine: Client, name: str, drawn_version: int) -> None:
    """OCC-016: a writer and a clustering change the same file group: one of them aborts."""
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("TL-019", "TL-030", "TL-051")
@parametrize_scenarios("*-and-rollback*")
@pytest.mark.long
def test_rolled_back_writes_stay_rolled_back(engine: Client, name: str, drawn_version: int) -> None:
    """TL-030: a write that is rolled back stays rolled back: the heartbeat of its writer has expired, its base commit is rolled
    back, or two processes roll it back.
    """
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("TL-023", "TL-024", "SVC-005")
@parametrize_scenarios("*-and-restore", "restore-and-*")
@pytest.mark.long
def test_a_restore_gives_the_savepoint_under_concurrency(engine: Client, name: str, drawn_version: int) -> None:
    """TL-023: a restore gives the state of the savepoint beside a writer, each service, and another process that executes the
    same restore.
    """
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("CLN-002", "CLN-003", "TL-021", "TL-022", "SVC-008")
@parametrize_scenarios("*-and-clean", "clean-and-*", "*-and-savepoint", "savepoint-and-savepoint")
@pytest.mark.long
def test_cleans_keep_files_in_use(engine: Client, name: str, drawn_version: int) -> None:
    """TL-022: a clean keeps the files that a writer, a savepoint, a rollback or a plan of another service needs, in every
    order.
    """
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("SVC-002", "SVC-004", "SVC-010")
@parametrize_scenarios("compaction-plan-and-*", "compaction-execution-and-compaction-plan", "compaction-and-*compaction",
           "log-compaction-and-*", "compaction-and-clustering", "clustering-and-clustering",
           "compaction-and-rollback")  # fmt: skip
@pytest.mark.long
def test_concurrent_plans_share_no_file_group(engine: Client, name: str, drawn_version: int) -> None:
    """SVC-010: if two planners run at once, no file group is in both plans."""
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("SVC-005", "SVC-007", "TL-050")
@parametrize_scenarios("compaction-execution-and-compaction-execution", "compaction-execution-and-rollback-of-attempt")
@pytest.mark.long
def test_executors_of_one_plan_do_not_remove_results(engine: Client, name: str, drawn_version: int) -> None:
    """SVC-005: if two processes execute one plan, or one executes it and the other one rolls the attempt back, no result is
    removed.
    """
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("ARC-001", "ARC-002", "TL-021")
@parametrize_scenarios("*-archive", "archive-and-*", "clean-and-archive-*")
@pytest.mark.long
def test_archiving_loses_nothing(engine: Client, name: str, drawn_version: int) -> None:
    """ARC-002: archiving loses no action beside a writer, a reader, an overwrite, each service, and another archiver."""
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("RDR-005", "RDR-008", "OCC-003")
@parametrize_scenarios("reader-and-[!r]*", "reader-and-restore")
@pytest.mark.long
def test_a_query_sees_one_snapshot(engine: Client, name: str, drawn_version: int) -> None:
    """OCC-003: a query returns one snapshot beside a writer and beside each service, in every order."""
    explore_scenario(engine, name, drawn_version)


@pytest.mark.requirements("SVC-006", "OCC-027")
@parametrize_scenarios("*-crashes")
@pytest.mark.long
def test_other_processes_finish_after_a_crash(engine: Client, name: str, drawn_version: int) -> None:
    """SVC-006: a writer or service crashes at any step: every read is right, and after recovery nothing stays pending."""
    explore_scenario(engine, name, drawn_version)
