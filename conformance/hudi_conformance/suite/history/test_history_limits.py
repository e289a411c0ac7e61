"""The settings of archiving: when it begins and what it keeps active."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.programs.write_programs import expect_rows
from hudi_conformance.suite.support.tables.archived_tables import (
    ARCHIVE,
    FREE,
    Histories,
    archive_limits,
    completed_actions,
    expected_rows,
    new_table,
    read_step,
    write_times,
)

FLINK = pytest.mark.needs("archive.flink-settings")
NewUri = Callable[[], str]


@contextmanager
def rows_stay(engine: Client, uri: str, count: int) -> Iterator[None]:
    """Check that the table holds the rows of all writes after the block."""
    expect_rows(engine, uri, expected_rows(count), "before")
    yield
    expect_rows(engine, uri, expected_rows(count), "after")


@ARCHIVE
@pytest.mark.needs("read.snapshot")
@pytest.mark.requirements("ARC-001", "ARC-002", "LSM-001")
def test_old_actions_move_to_the_history(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """ARC-001: above the upper limit the oldest actions leave the active timeline and are in the history unchanged; the rows
    stay.
    """
    uri = histories.copy(engine, 8, new_uri())
    before = completed_actions(engine, uri)
    assert before["archived"] == []
    with rows_stay(engine, uri, 8):
        newest = engine.service(uri, "archive", options=archive_limits(4, 2))
    after = completed_actions(engine, uri)
    assert newest == after["archived"][-1]["requested"]
    assert len(after["active"]) == 2
    together = [{**one, "where": "active"} for one in (*after["archived"], *after["active"])]
    assert sorted(together, key=lambda one: one["requested"]) == before["active"], "an action is missing, duplicated or changed"
    assert not any(name.startswith(newest or "nothing") for name in read_step(uri).active), (
        "a file of an archived action is still in the timeline folder"
    )


@ARCHIVE
@pytest.mark.requirements("ARC-007", "ARC-009")
@pytest.mark.parametrize(("writes", "left"), [(4, 4), (5, 2), (8, 2)])
def test_archiving_starts_above_the_upper_limit_and_keeps_the_lower_one(
    engine: Client, new_uri: NewUri, histories: Histories, writes: int, left: int
) -> None:
    """ARC-007: with limits 4 and 2 nothing is archived while there are 4 writes; of 5 or 8 the newest 2 stay active."""
    uri = histories.copy(engine, writes, new_uri())
    before = completed_actions(engine, uri)["active"]
    engine.service(uri, "archive", options=archive_limits(4, 2))
    assert completed_actions(engine, uri)["active"] == before[-left:]


@ARCHIVE
@pytest.mark.requirements("ARC-007", "ARC-009")
@pytest.mark.parametrize(("writes", "left"), [(30, 30), (31, 20)])
def test_by_default_more_than_thirty_writes_are_archived_down_to_twenty(
    engine: Client, new_uri: NewUri, histories: Histories, writes: int, left: int
) -> None:
    """ARC-009: without any setting 30 writes stay; the 31st makes archiving keep the newest 20."""
    uri = histories.copy(engine, writes, new_uri())
    before = completed_actions(engine, uri)["active"]
    engine.service(uri, "archive", options=FREE)
    assert completed_actions(engine, uri)["active"] == before[-left:]


@ARCHIVE
@pytest.mark.requirements("ARC-007")
def test_the_limits_rise_if_cleaning_retains_more_commits(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """ARC-007: cleaning that retains 5 commits needs 6 on the timeline: limits 4 and 2 become 8 and 6."""
    cleaning = {"hoodie.clean.commits.retained": "5"}
    for writes, left in ((8, 8), (9, 6)):
        uri = histories.copy(engine, writes, new_uri())
        engine.service(uri, "archive", options={**archive_limits(4, 2), **cleaning})
        assert len(completed_actions(engine, uri)["active"]) == left


@ARCHIVE
@pytest.mark.requirements("ARC-007")
def test_the_limits_rise_if_cleaning_retains_hours(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """ARC-007: cleaning that retains the writes of the last hours needs them on the timeline, here all of them."""
    cleaning = {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": "24"}
    uri = histories.copy(engine, 9, new_uri())
    engine.service(uri, "archive", options={**archive_limits(4, 2), **cleaning})
    assert len(completed_actions(engine, uri)["active"]) == 9


@ARCHIVE
@pytest.mark.requirements("ARC-008")
@pytest.mark.parametrize(("most", "fewest"), [(2, 4), (3, 3)])
def test_a_lower_limit_that_is_not_below_the_upper_one_is_refused(
    engine: Client, new_uri: NewUri, histories: Histories, most: int, fewest: int
) -> None:
    """ARC-008: if the lower limit is not below the upper one, a service and a write raise an error; the table is unchanged."""
    uri = histories.copy(engine, 8, new_uri())
    before = read_step(uri)
    with pytest.raises(ContractError):
        engine.service(uri, "archive", options=archive_limits(most, fewest))
    assert read_step(uri) == before
    with pytest.raises(ContractError):
        write_times(engine, uri, 1, archive_limits(most, fewest, **{"hoodie.archive.automatic": "true"}), first=8)
    assert read_step(uri).completed == before.completed


@pytest.mark.needs("create", "write.upsert", "service.archive", "copy-on-write", "partition.plain")
@pytest.mark.requirements("ARC-005", "ARC-006", "ARC-007")
def test_archiving_follows_each_write(engine: Client, new_uri: NewUri) -> None:
    """ARC-006: after each write no more writes are active than the limit permits, and no more files are in the
    timeline folder.
    """
    uri, options = new_uri(), archive_limits(4, 2, **{"hoodie.archive.automatic": "true"})
    new_table(engine, uri)
    for number in range(12):
        write_times(engine, uri, 1, options, number)
        found = read_step(uri)
        assert len(found.completed) <= 4, f"after write {number + 1}"
        assert len(found.active) <= 3 * 4, f"after write {number + 1}: more than three files for each action"
    assert len(found.completed) + len(found.archived) == 12


@pytest.mark.needs("create", "write.upsert", "service.archive", "copy-on-write", "partition.plain")
@pytest.mark.requirements("ARC-006")
def test_archiving_can_be_switched_off(engine: Client, new_uri: NewUri) -> None:
    """ARC-006: with hoodie.archive.automatic=false writes archive nothing."""
    uri = new_uri()
    new_table(engine, uri)
    write_times(engine, uri, 6, archive_limits(3, 2, **{"hoodie.archive.automatic": "false"}))
    assert len(read_step(uri).completed) == 6
    assert not read_step(uri).archived


@ARCHIVE
@FLINK
@pytest.mark.requirements("ARC-011", "ARC-012")
@pytest.mark.parametrize(
    ("setting", "writes", "left"),
    [
        pytest.param({"archive.min_commits": "40"}, 50, 50, id="fifty-stay"),
        pytest.param({"archive.min_commits": "40"}, 51, 40, id="of-fifty-one-forty-are-left"),
        pytest.param({"archive.max_commits": "50"}, 51, 40, id="the-lower-limit-is-forty"),
        pytest.param({"archive.max_commits": "8", "archive.min_commits": "5"}, 8, 8, id="eight-stay"),
        pytest.param({"archive.max_commits": "8", "archive.min_commits": "5"}, 9, 5, id="of-nine-five-are-left"),
    ],
)
def test_flink_settings_have_their_own_limits(
    engine: Client, new_uri: NewUri, histories: Histories, setting: dict[str, str], writes: int, left: int
) -> None:
    """ARC-012: under the names that Flink uses, the limits are 50 and 40 unless they are set."""
    uri = histories.copy(engine, writes, new_uri())
    before = completed_actions(engine, uri)["active"]
    engine.service(uri, "archive", options={**FREE, **setting})
    assert completed_actions(engine, uri)["active"] == before[-left:]
