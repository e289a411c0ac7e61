"""Merging of many records: readers that decode or merge whole columns find the rows that they find among few records."""

from collections.abc import Callable
from typing import Literal

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, Step, as_arrow, expect_rows, row

COUNT = 9_000
#: Writers that store no record positions: changes are matched by key.
BY_KEY = {"hoodie.write.record.positions": "false"}
#: With positions, and without.
SETTINGS = {"by key": BY_KEY, "by position": {"hoodie.write.record.positions": "true"}}


def key(number: int) -> str:
    """Return a record key. The order of the keys is not that of the numbers."""
    return f"{number * 7919 % COUNT:05}-{number}"


#: Each write changes other keys than the one before: some are changed once, some several times, most are not. A key that was
#: deleted is inserted with a greater ordering value than it had.
STEPS = (
    Step("insert", tuple(row(key(n), 10, "stored") for n in range(COUNT))),
    Step("upsert", tuple(row(key(n), 9 + n % 3, "first") for n in range(3, COUNT, 4))),
    Step("delete", tuple(row(key(n), 11, "") for n in range(3, COUNT, 40))),
    Step("upsert", tuple(row(key(n), 5 + (n + 12) % 20, "second") for n in range(1, COUNT, 6))),
    Step("upsert", tuple(row(key(n), 30 - n % 40, "deleted" if n % 9 == 0 else "third", deleted=n % 9 == 0)
                         for n in range(3, COUNT, 10))),
)  # fmt: skip


@pytest.mark.needs("create", "write.insert", "write.upsert", "write.delete", "merge-on-read", "partition.plain", "delete.flag")
@pytest.mark.needs("read.snapshot", "read.projection")
@pytest.mark.parametrize("matched", SETTINGS)
@pytest.mark.parametrize(
    "mode",
    [
        pytest.param("COMMIT_TIME_ORDERING", marks=pytest.mark.needs("merge.commit-time")),
        pytest.param("EVENT_TIME_ORDERING", marks=pytest.mark.needs("merge.event-time")),
    ],
)
@pytest.mark.requirements("RDR-016", "RDR-017", "MRG-005", "MRG-006")
def test_many_records_are_merged_like_few(
    engine: Client,
    new_uri: Callable[[], str],
    mode: Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"],
    matched: str,
) -> None:
    """RDR-016: a base file of thousands of rows has several log files, in whose blocks some keys come once, some several times,
    late, deleted, or deleted and inserted again. The rows are those of the model after each write.
    """
    program = Program("MERGE_ON_READ", mode, True)
    uri, model = new_uri(), program.model()
    engine.create(uri, program.spec())
    for number, step in enumerate(STEPS):
        instant = engine.write(uri, step.operation, as_arrow(step.rows), options=SETTINGS[matched])
        model.apply(step.operation, step.rows, instant)
        if number > 1:
            expect_rows(engine, uri, model.snapshot(), f"after write {number + 1}")
