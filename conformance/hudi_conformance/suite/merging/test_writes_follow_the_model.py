"""Model-based tests: drawn programs of writes, on one engine, compared with the model after each commit."""

from collections.abc import Callable

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.drawn_checks import check_for_all
from hudi_conformance.suite.support.programs.table_programs import Budget
from hudi_conformance.suite.support.programs.write_programs import Program, draw_programs, run_program, table_versions
from hudi_conformance.suite.support.saved_programs import save_program

WRITES = ("create", "write.upsert", "write.delete", "read.snapshot", "read.projection", "delete.flag")
#: The number of programs drawn for an engine in this process, and for one whose commits take seconds.
MANY, FEW = 80, 4


@pytest.mark.requirements(
    "MRG-001", "MRG-005", "MRG-008", "MRG-011", "MRG-012", "MRG-014", "MRG-025", "MRG-028", "MRG-029",
    "LAY-021", "PROP-017", "TYP-007", "RDR-016", "RDR-017",
)  # fmt: skip
@pytest.mark.needs(*WRITES, "copy-on-write", "merge-on-read", "merge.commit-time", "merge.event-time", "partition.plain")
@pytest.mark.versions(8, 9)
@pytest.mark.long
def test_every_snapshot_matches_the_model(engine: Client, new_uri: Callable[[], str], budget: Budget) -> None:
    """TYP-007: after each commit of any program of upserts and deletes the snapshot holds the rows of the model."""

    def check(program: Program) -> None:
        try:
            run_program(program, new_uri(), engine)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{save_program(program)}") from error

    check_for_all(budget(MANY, FEW, engine), check, draw_programs(versions=table_versions(engine.hello.features)))
