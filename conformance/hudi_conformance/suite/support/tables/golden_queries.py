"""TODO docstring."""

import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.case import Case
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.cases.verdict import lacking
from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.programs.table_programs import Budget

#: Tables of an area that an engine is asked about at most, and one whose queries take a second or more.
MANY, FEW = 40, 6


#: Queries whose answers follow from the order of completions. Of a table of version 6 the times of its files tell it, which
#: change with each copy.
TIMED = {"read.incremental", "read.cdc"}


#: Errata of tables in which a service has changed which rows there are, so that no write tells it.
CHANGED_BY_SERVICES = {"ER-106"}


Rows = Counter[str]


@cache
def tables(area: str) -> tuple[Case, ...]:
    """The cases of an area that ask for the rows of a table now; of several of one table the first."""
    found: dict[Path, Case] = {}
    for case in cases.find_cases(fixtures_root() / area):
        is_plain = case.table is not None and case.query == Query() and case.expected.rows is not None
        if is_plain and not CHANGED_BY_SERVICES.intersection(case.errata):
            found.setdefault(case.subject, case)
    return tuple(found.values())


def asked(engine: Client, budget: Budget, area: str, *features: str) -> Iterator[tuple[str, str, pa.Table]]:
    """Id, place and snapshot of the tables that the engine reads, as many as it has the time for."""
    known = [case for case in tables(area) if not lacking((*case.needs, *features), engine.hello)]
    if TIMED.intersection(features):
        known = [case for case in known if "table-version.6" not in case.needs]
    number = max(1, budget(min(len(known), MANY), FEW, engine))
    for case in known[:: -(-len(known) // number) or 1]:
        with tempfile.TemporaryDirectory(prefix="hudi-conformance-law-") as scratch:
            uri = cases.place(case, Path(scratch))
            if (every := answer(engine, uri, Query())) is not None:
                yield case.id, uri, every


def counted(rows: pa.Table) -> Rows:
    """The rows, in no order."""
    return Counter(repr(tuple(row.values())) for row in rows.to_pylist())


def answer(engine: Client, uri: str, query: Query) -> pa.Table | None:
    """What the engine answers; None where it does not."""
    try:
        return engine.read(uri, query)
    except ContractError:
        return None
