"""Every order of the requests of two or three processes, within bounds: no invariant is violated, also when a process crashes.

Only an engine in this process can be scheduled request by request. Larger bounds: `hudi-conformance explore --preemptions 2`.
"""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.explored_scenarios import explored, scenarios


@pytest.mark.requirements(
    "OCC-001", "OCC-002", "OCC-004", "OCC-005", "OCC-010", "OCC-012", "OCC-013", "OCC-014", "OCC-019", "OCC-022", "OCC-025",
    "S3-007", "TT-003", "TT-004", "LOCK-001",
)  # fmt: skip
@scenarios("two-*")
def test_concurrent_writers_are_serializable(engine: Client, name: str) -> None:
    """Two writers, of one file group or of two, with logs or base files: the result equals that of one order of both."""
    explored(engine, name)


@pytest.mark.requirements("OCC-011", "OCC-001")
@scenarios("three-writers")
def test_conflict_detection_covers_writes_begun_earlier(engine: Client, name: str) -> None:
    """Three writers, one of which completes between the begin and the end of another."""
    explored(engine, name)


@pytest.mark.requirements("OCC-026")
@scenarios("optimistic-writer-*")
def test_a_clean_spares_writers_with_heartbeats(engine: Client, name: str) -> None:
    """A clean that looks for expired heartbeats runs beside an active writer."""
    explored(engine, name)


@pytest.mark.requirements("NBC-002", "NBC-007", "SVC-001", "SVC-002", "SVC-011", "LCP-005")
@scenarios("writer-and-compaction*", "writer-and-log-compaction")
def test_logs_are_read_once_during_compactions(engine: Client, name: str) -> None:
    """A writer of logs runs beside a compaction that is planned or executed, or beside a log compaction."""
    explored(engine, name)


@pytest.mark.requirements("NBC-001", "NBC-002", "NBC-003", "NBC-004", "NBC-007")
@scenarios("non-blocking-*")
def test_non_blocking_writers_lose_no_update(engine: Client, name: str) -> None:
    """Two non-blocking writers write events of one key, known or new; one runs beside a compaction, a log compaction or an
    overwrite. Logs complete beside logs and log compactions, the greatest event wins, and replaced groups stay replaced.
    """
    explored(engine, name)


@pytest.mark.requirements("OCC-013", "OCC-016", "RDR-010", "TL-039")
@scenarios("*-and-overwrite", "overwrite-and-overwrite", "writer-and-deletion")
def test_replacements_and_writes_are_serializable(engine: Client, name: str) -> None:
    """An overwrite runs beside a writer, another overwrite and each service; the deletion of a partition runs beside a writer.
    No writer changes what another one has replaced, or replaces what it has not read.
    """
    explored(engine, name)


@pytest.mark.requirements("OCC-016", "SVC-009")
@scenarios("writer-and-clustering", "clustering-and-tolerated-*")
def test_clusterings_and_writes_of_one_group_conflict(engine: Client, name: str) -> None:
    """A writer and a clustering change the same file group: one of them aborts."""
    explored(engine, name)


@pytest.mark.requirements("TL-019", "TL-030", "TL-051")
@scenarios("*-and-rollback*")
def test_rolled_back_writes_stay_rolled_back(engine: Client, name: str) -> None:
    """A writer whose heartbeat has expired, writers and services whose base commit is rolled back, and two processes that roll
    back the same write.
    """
    explored(engine, name)


@pytest.mark.requirements("TL-023", "TL-024")
@scenarios("*-and-restore", "restore-and-*")
def test_a_restore_gives_the_savepoint_under_concurrency(engine: Client, name: str) -> None:
    """A restore runs beside a writer, each service, and another process that executes the same restore."""
    explored(engine, name)


@pytest.mark.requirements("CLN-002", "CLN-003", "TL-021", "TL-022", "SVC-008")
@scenarios("*-and-clean", "clean-and-*", "*-and-savepoint", "savepoint-and-savepoint")
def test_cleans_keep_files_in_use(engine: Client, name: str) -> None:
    """A clean runs beside a writer, savepoints, rollbacks, and each service that plans."""
    explored(engine, name)


@pytest.mark.requirements("SVC-002", "SVC-004", "SVC-010")
@scenarios("compaction-plan-and-*", "compaction-execution-and-compaction-plan", "compaction-and-*compaction",
           "log-compaction-and-*", "compaction-and-clustering", "clustering-and-clustering",
           "compaction-and-rollback")  # fmt: skip
def test_concurrent_plans_share_no_file_group(engine: Client, name: str) -> None:
    """Two planners run at once: no file group is in both plans."""
    explored(engine, name)


@pytest.mark.requirements("SVC-005", "SVC-007", "TL-050")
@scenarios("compaction-execution-and-compaction-execution", "compaction-execution-and-rollback-of-attempt")
def test_executors_of_one_plan_do_not_remove_results(engine: Client, name: str) -> None:
    """Two processes execute one plan, or one executes it and the other one rolls the attempt back."""
    explored(engine, name)


@pytest.mark.requirements("ARC-001", "ARC-002", "TL-021")
@scenarios("*-archive", "archive-and-*", "clean-and-archive-*")
def test_archiving_loses_nothing(engine: Client, name: str) -> None:
    """Archiving runs beside a writer, a reader, an overwrite, each service, and another archiver."""
    explored(engine, name)


@pytest.mark.requirements("RDR-005", "RDR-008", "OCC-003")
@scenarios("reader-and-[!r]*", "reader-and-restore")
def test_a_query_sees_one_snapshot(engine: Client, name: str) -> None:
    """A query runs beside a writer and beside each service."""
    explored(engine, name)


@pytest.mark.requirements("SVC-006", "OCC-027")
@scenarios("*-crashes")
def test_other_processes_finish_after_a_crash(engine: Client, name: str) -> None:
    """A writer or service crashes at any step: every read is right, and after recovery nothing stays pending."""
    explored(engine, name)
