"""Model-based tests: drawn programs of writes, services and queries of every kind, on one engine and on two in turn."""

import zlib
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, seed, settings

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.model.merge import PAYLOADS
from hudi_conformance.suite.support.program_runner import run_program
from hudi_conformance.suite.support.programs.table_programs import Budget, Family, Program, Vocabulary, draw_programs
from hudi_conformance.suite.support.saved_programs import save_program

WRITES = ("create", "write.upsert", "write.delete", "read.snapshot", "read.projection", "delete.flag", "partition.plain",
          "partition.none", "copy-on-write", "merge-on-read")  # fmt: skip
FAMILIES = pytest.mark.parametrize(
    "family",
    [
        pytest.param("commit-time", marks=pytest.mark.needs("merge.commit-time", writer=("merge.commit-time",))),
        pytest.param("event-time", marks=pytest.mark.needs("merge.event-time", writer=("merge.event-time",))),
        pytest.param("custom", marks=pytest.mark.needs("merge.custom", writer=("merge.custom",))),
    ],
)
#: The number of programs drawn for an engine in this process, and for one whose steps take seconds.
MANY, FEW = 20, 3


def run_drawn_programs(family: Family, most: int, new_uri: Callable[[], str], *engines: Client) -> None:
    """Run drawn programs on engines in turn; the first failure is shrunk, reported and saved.

    Twice as many programs of custom merging are shared by the payload classes, at least one for each.
    """
    payloads = sorted(PAYLOADS) if family == "custom" else [None]
    for payload in payloads:
        _run(family, payload, most if payload is None else max(1, 2 * most // len(payloads)), new_uri, *engines)


def _run(family: Family, payload: str | None, most: int, new_uri: Callable[[], str], *engines: Client) -> None:
    vocabulary = Vocabulary(frozenset.intersection(*(engine.hello.features for engine in engines)))

    @seed(zlib.crc32(f"{family}{payload or ''}".encode()))
    @settings(
        max_examples=most, database=None, deadline=None, report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(draw_programs(vocabulary, family, payload))
    def check(program: Program) -> None:
        try:
            run_program(program, new_uri(), *engines)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{save_program(program)}") from error
        except ContractError as error:
            error.add_note(save_program(program))
            raise

    check()


@FAMILIES
@pytest.mark.requirements(
    "MRG-001", "MRG-005", "MRG-008", "MRG-012", "MRG-014", "MRG-025", "MRG-028", "MRG-029", "TYP-007", "TYP-008", "TYP-009",
    "TYP-012", "TYP-013", "CMP-002", "LCP-001", "RDR-016", "RDR-017", "LF-046", "PAY-022", "PAY-023",
)  # fmt: skip
@pytest.mark.needs(*WRITES)
@pytest.mark.versions(8, 9)
@pytest.mark.long
def test_every_query_matches_the_model(engine: Client, new_uri: Callable[[], str], budget: Budget, family: Family) -> None:
    """TYP-009: after each step of any program of inserts, upserts, deletes, partial updates, compactions, clusterings, cleans,
    archiving, savepoints, restores and rollbacks, queries of every kind return the rows of the model.
    """
    run_drawn_programs(family, budget(MANY, FEW, engine), new_uri, engine)


@FAMILIES
@pytest.mark.requirements("LAY-001", "LAY-002", "MRG-008", "MRG-010", "SVC-015", "TL-001", "TYP-008")
@pytest.mark.needs(*WRITES, writer=WRITES)
@pytest.mark.versions(8, 9)
@pytest.mark.long
def test_two_engines_in_turn_match_the_model(
    writer: Client, reader: Client, new_uri: Callable[[], str], budget: Budget, family: Family
) -> None:
    """MRG-010: two engines take the steps of any program in turn, and each query is sent to the engine that did not take the
    step: it returns the rows of the model.
    """
    run_drawn_programs(family, budget(MANY // 3, FEW, writer, reader), new_uri, writer, reader)
