"""Merging of many records: readers that decode or merge whole columns find the rows that they find among few records."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, Step, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.stored_blocks import flag_every_second_record

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


#: The numbers of the keys that the second write changes, and whether its text is greater than the stored one, less, or null.
CHANGED = {number: ("zz", "aa", None)[number % 3] for number in range(1, COUNT, 5)}


@pytest.mark.needs("create", "write.insert", "write.upsert", "read.snapshot", "read.projection", "merge-on-read")
@pytest.mark.needs("partition.plain", "merge.event-time")
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.requirements("RDR-016", "MRG-028", "MRG-029")
def test_many_records_are_ordered_by_texts(engine: Client, new_uri: Callable[[], str], nulls: bool) -> None:
    """MRG-029: the ordering field of thousands of records is a text. A change with a greater or equal text replaces the stored
    row, one with a lesser text or without one does not.
    """
    uri = new_uri()
    spec = replace(Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec(), ordering=("value",))
    engine.create(uri, spec)
    stored = {number: f"m{number % 7}" for number in range(COUNT)}
    engine.write(uri, "insert", as_arrow([row(key(n), 1, text) for n, text in stored.items()]), options=BY_KEY)
    lesser = None if nulls else "aa"
    changes = [{**row(key(n), 2, ""), "value": stored[n] if n % 2 else text or lesser} for n, text in CHANGED.items()]
    engine.write(uri, "upsert", as_arrow(changes), options=BY_KEY)
    wins = {n for n, text in CHANGED.items() if n % 2 or text == "zz"}
    expected = [row(key(n), 2 if n in wins else 1, "zz" if n in wins and not n % 2 else text) for n, text in stored.items()]
    expect_rows(engine, uri, expected, "after a write with other texts")


@pytest.mark.needs("create", "write.insert", "write.upsert", "read.snapshot", "read.projection", "merge-on-read")
@pytest.mark.needs("partition.plain", "delete.flag", "log.avro")
@pytest.mark.parametrize(
    "mode",
    [
        pytest.param("COMMIT_TIME_ORDERING", marks=pytest.mark.needs("merge.commit-time")),
        pytest.param("EVENT_TIME_ORDERING", marks=pytest.mark.needs("merge.event-time")),
    ],
)
@pytest.mark.requirements("MRG-014", "RDR-016")
def test_rows_with_the_flag_for_deletes_among_many(
    engine: Client, new_uri: Callable[[], str], mode: Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"]
) -> None:
    """MRG-014: a log has thousands of rows, and the flag for deletes is set in half of them, as writers do that store deletes
    as rows. These delete their records; the others are updates.
    """
    uri, program = new_uri(), Program("MERGE_ON_READ", mode, True)
    engine.create(uri, program.spec())
    engine.write(uri, "insert", as_arrow([row(key(n), 10, "stored") for n in range(COUNT)]), options=BY_KEY)
    changes = [{**row(key(n), 20, "changed"), "_hoodie_is_deleted": False} for n in range(1, COUNT, 3)]
    engine.write(uri, "upsert", as_arrow(changes), options={**BY_KEY, "hoodie.logfile.data.block.format": "avro"})
    flagged = flag_every_second_record(uri)
    if not flagged:
        pytest.skip("the engine stored no row in an Avro block")
    assert len(flagged) == len(changes) // 2
    rows = {key(n): row(key(n), 10, "stored") for n in range(COUNT)}
    rows |= {one["id"]: row(one["id"], 20, "changed") for one in changes}
    expect_rows(engine, uri, [one for id_, one in rows.items() if id_ not in flagged], "after a write with flagged rows")
