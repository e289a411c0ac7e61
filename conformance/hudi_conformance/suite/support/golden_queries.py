"""Queries on the tables of golden cases: which tables an engine is asked about, and its answers as comparable rows."""

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.case import Case
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.cases.verdict import describe_missing_features
from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.answers import Answers, read_answer
from hudi_conformance.suite.support.programs.table_programs import Budget

#: The greatest number of tables of an area that are read: by a fast engine, and by one whose queries take a second or more.
MANY, FEW = 40, 6
#: Queries whose answers depend on completion times. In version 6 these are the modification times of files, which every copy
#: changes.
TIMED = {"read.incremental", "read.cdc"}
#: Errata of tables in which a service has changed the set of rows, so that no write has these changes.
CHANGED_BY_SERVICES = {"ER-106"}

Rows = Counter[str]


@cache
def tables_of_area(area: str) -> tuple[Case, ...]:
    """Return the cases of an area that expect the rows of a plain snapshot, one for each table."""
    found: dict[Path, Case] = {}
    for case in cases.find_cases(fixtures_root() / area):
        is_plain = case.table is not None and case.query == Query() and case.expected.rows is not None
        if is_plain and not CHANGED_BY_SERVICES.intersection(case.errata):
            found.setdefault(case.subject, case)
    return tuple(found.values())


@dataclass
class Snapshots:
    """Copies of golden tables in a folder, each with the answer of an engine to a plain snapshot query.

    Tests that only read share them, so that each table is copied and read once.
    """

    folder: Path
    _known: dict[tuple[str, Path], tuple[str, pa.Table | ContractError]] = field(default_factory=dict)

    def read_snapshot(self, engine: Client, case: Case) -> tuple[str, pa.Table | ContractError]:
        """Return the URI of the copy for this engine, and the engine's answer."""
        found = self._known.get((engine.name, case.subject))
        if found is None:
            place = self.folder / str(len(self._known))
            place.mkdir()
            uri = cases.copy_subject(case, place)
            found = self._known[engine.name, case.subject] = uri, read_answer(engine, uri, Query())
        return found


def read_snapshots(
    engine: Client, budget: Budget, area: str, *features: str, shared: Snapshots | None = None
) -> Iterator[tuple[str, str, pa.Table]]:
    """Yield id, URI and snapshot of tables of an area, as many as the budget of the engine permits.

    Tables that need a feature which the engine does not declare are left out. At the end the generator checks that at least
    one snapshot was answered: it skips the test if there was no table, and fails it if every read was an error. The test may
    change the tables, unless it uses `shared` ones.
    """
    known = [case for case in tables_of_area(area) if not describe_missing_features((*case.needs, *features), engine.hello)]
    if TIMED.intersection(features):
        known = [case for case in known if "table-version.6" not in case.needs]
    number = max(1, budget(min(len(known), MANY), FEW, engine))
    answers = Answers(engine)
    for case in sorted(known, key=_rank)[:number]:
        with nullcontext(shared) if shared is not None else _own_copies() as copies:
            uri, answer = copies.read_snapshot(engine, case)
            if (every := answers.count_answer(answer)) is not None:
                yield case.id, uri, every
    answers.expect_some(f"tables of the folder {area}")


def _rank(case: Case) -> bytes:
    """Return where a case stands in the sample of an area: by chance, and independent of the other cases.

    A golden table that is added replaces one table of the sample at most, so that the results for the others stay valid.
    """
    return sha256(case.id.encode()).digest()


@contextmanager
def _own_copies() -> Iterator[Snapshots]:
    """Yield copies in a folder that is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="hudi-conformance-golden-") as scratch:
        yield Snapshots(Path(scratch))


def as_multiset(rows: pa.Table) -> Rows:
    """Return the rows as a multiset, without an order."""
    return Counter(repr(tuple(row.values())) for row in rows.to_pylist())


def check_rows(found: pa.Table, expected: pa.Table, where: str) -> None:
    """Check that an answer has the expected rows. Raises AssertionError with `where` and the rows that differ."""
    given, wanted = as_multiset(found), as_multiset(expected)
    if given != wanted:
        lost = [f"expected {row}" for row in sorted((wanted - given).elements())]
        more = [f"found    {row}" for row in sorted((given - wanted).elements())]
        raise AssertionError("\n".join([where, f"columns  {', '.join(expected.column_names)}", *lost, *more]))
