"""Every order of the requests of two or three processes, within bounds: no invariant is broken, whoever dies where.

Only an engine in this process can be made to take turns. Larger bounds: `hudi-conformance explore --preemptions 2`.
"""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.explored_scenarios import explored, scenarios


@pytest.mark.requirements(
    "OCC-001", "OCC-002", "OCC-004", "OCC-005", "OCC-010", "OCC-012", "OCC-013", "OCC-014", "OCC-019", "OCC-022", "OCC-025",
    "S3-007", "TT-003", "TT-004", "LOCK-001",
)  # fmt: skip
@scenarios("two-*")
def test_writers_of_one_table_behave_as_if_one_came_after_the_other(engine: Client, name: str) -> None:
    """Two writers, of one file group or of two, with logs or base files: the result is that of one order of both."""
    explored(engine, name)


@pytest.mark.requirements("OCC-011", "OCC-001")
@scenarios("three-writers")
def test_a_writer_finds_what_began_before_its_snapshot(engine: Client, name: str) -> None:
    """Three writers, one of which completes between the begin and the end of another."""
    explored(engine, name)


@pytest.mark.requirements("OCC-026")
@scenarios("optimistic-writer-*")
def test_a_writer_whose_heart_beats_is_left_alone(engine: Client, name: str) -> None:
    """A clean that looks for the dead beside a writer that is alive."""
    explored(engine, name)


@pytest.mark.requirements("NBC-002", "NBC-007", "SVC-001", "SVC-002", "SVC-011", "LCP-005")
@scenarios("writer-and-compaction*", "writer-and-log-compaction")
def test_logs_are_read_once_beside_compactions(engine: Client, name: str) -> None:
    """A writer of logs beside a compaction that is planned, or carried out, or beside a log compaction."""
    explored(engine, name)


@pytest.mark.requirements("NBC-001", "NBC-002", "NBC-003", "NBC-004", "NBC-007")
@scenarios("non-blocking-*")
def test_writers_that_need_not_block_lose_nothing(engine: Client, name: str) -> None:
    """Two that write events of one key, known or new, and one beside a compaction, a log compaction or an overwrite: logs
    complete beside logs and joins, the greatest event counts, and what was replaced stays so."""
    explored(engine, name)


@pytest.mark.requirements("OCC-013", "OCC-016", "RDR-010", "TL-039")
@scenarios("*-and-overwrite", "overwrite-and-overwrite", "writer-and-deletion")
def test_a_partition_is_replaced_or_changed(engine: Client, name: str) -> None:
    """An overwrite beside a writer, another overwrite and each service, and the deletion of a partition beside a writer: nobody
    changes what the other one has replaced, or replaces what it has not seen."""
    explored(engine, name)


@pytest.mark.requirements("OCC-016", "SVC-009")
@scenarios("writer-and-clustering", "clustering-and-tolerated-*")
def test_a_group_is_clustered_or_written_to(engine: Client, name: str) -> None:
    """A writer beside a clustering of its file group: one of them gives way."""
    explored(engine, name)


@pytest.mark.requirements("TL-019", "TL-030", "TL-051")
@scenarios("*-and-rollback*")
def test_what_is_taken_back_stays_away(engine: Client, name: str) -> None:
    """A writer that somebody takes for dead, writers and services whose basis is rolled back, two that roll back one write."""
    explored(engine, name)


@pytest.mark.requirements("TL-023", "TL-024")
@scenarios("*-and-restore", "restore-and-*")
def test_a_restore_is_the_savepoint_whoever_is_there(engine: Client, name: str) -> None:
    """A restore beside a writer, each service, and another one that carries it out."""
    explored(engine, name)


@pytest.mark.requirements("CLN-002", "CLN-003", "TL-021", "TL-022", "SVC-008")
@scenarios("*-and-clean", "clean-and-*", "*-and-savepoint", "savepoint-and-savepoint")
def test_cleans_spare_what_others_need(engine: Client, name: str) -> None:
    """A clean beside a writer, savepoints, rollbacks, and each service that plans."""
    explored(engine, name)


@pytest.mark.requirements("SVC-002", "SVC-004", "SVC-010")
@scenarios("compaction-plan-and-*", "compaction-execution-and-compaction-plan", "compaction-and-*compaction",
           "log-compaction-and-*", "compaction-and-clustering", "clustering-and-clustering",
           "compaction-and-rollback")  # fmt: skip
def test_plans_exclude_each_other(engine: Client, name: str) -> None:
    """Two planners at once: no file group is in both plans."""
    explored(engine, name)


@pytest.mark.requirements("SVC-005", "SVC-007", "TL-050")
@scenarios("compaction-execution-and-compaction-execution", "compaction-execution-and-taking-back")
def test_executors_of_one_plan_do_not_undo_each_other(engine: Client, name: str) -> None:
    """Two that carry out one plan, or one that does and one that takes the attempt back."""
    explored(engine, name)


@pytest.mark.requirements("ARC-001", "ARC-002", "TL-021")
@scenarios("*-archive", "archive-and-*", "clean-and-archive-*")
def test_archiving_loses_nothing(engine: Client, name: str) -> None:
    """An archiver beside a writer, a reader, an overwrite, each service, and another archiver."""
    explored(engine, name)


@pytest.mark.requirements("RDR-005", "RDR-008", "OCC-003")
@scenarios("reader-and-[!r]*", "reader-and-restore")
def test_a_query_sees_the_table_of_one_moment(engine: Client, name: str) -> None:
    """A query beside a writer and beside each service."""
    explored(engine, name)


@pytest.mark.requirements("SVC-006", "OCC-027")
@scenarios("*-dies")
def test_who_dies_leaves_what_others_can_finish(engine: Client, name: str) -> None:
    """A writer or service dies at any step: every look is right, and afterwards nothing stays pending."""
    explored(engine, name)
