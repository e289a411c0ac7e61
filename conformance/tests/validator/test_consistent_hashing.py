"""Tables with consistent hashing, whose log files have the instants of their slices in their names (ER-163)."""

from collections.abc import Sequence

import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import CHEAP
from hudi_reference import create_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import RandomIds
from hudi_reference.layout.names import join_path, split_path
from hudi_reference.storage import MemoryStorage, Storage

RANGES = {
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
    "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
}


def written(ordering: Sequence[str]) -> Storage:
    """An insert and two updates of one row, with consistent hashing."""
    table = create_table(
        "memory:///sample", name="sample", schema=t.SCHEMA, record_key=["id"], partition=["city"], ordering=ordering,
        table_type="MERGE_ON_READ", storage=MemoryStorage(), clock=ManualClock(t.START), ids=RandomIds(), options=RANGES,
    )  # fmt: skip
    table.upsert(t.rows(1))
    for fare in (1, 2):
        table.upsert(t.rows(1, fare=fare))
    return table.storage  # type: ignore[no-any-return]


def rename_in(storage: Storage, completed: str, old: str, new: str) -> None:
    """Rename the log file of a write, in its metadata too."""

    def change(record: object) -> None:
        (stat,) = t.stats_of(record)
        assert stat["path"] == old
        stat["path"] = new

    t.move(storage, old, new)
    t.change_record(storage, completed, change)


def named_by_slice(storage: Storage, token: str) -> None:
    """Give the log files of the updates the instant of the insert, and the last one this write token."""
    updates = t.log_files(storage)[-2:]
    instant = t.completed(storage, "deltacommit", 0).rpartition("/")[2].partition("_")[0]
    for number, (path, write_token) in enumerate(zip(updates, ("8-2-3", token), strict=True), start=1):
        folder, name = split_path(path)
        renamed = join_path(folder, f"{name.partition('_')[0]}_{instant}.log.1_{write_token}")
        rename_in(storage, t.completed(storage, "deltacommit", number), path, renamed)


def severities(storage: Storage) -> set[tuple[str, str]]:
    """The rules and severities of the findings of the cheap checks."""
    found = t.validated(storage, CHEAP)
    assert not found.broken, found.broken
    return {(one.rule, one.severity) for one in found.findings}


@pytest.mark.parametrize(
    ("ordering", "token", "severity"),
    [
        ((), "9-2-3", {("LF-004", "cosmetic")}),
        ((), "7-2-3", {("LF-004", "cosmetic"), ("LF-004", "wrong-answers")}),
        (("fare",), "7-2-3", {("LF-004", "cosmetic")}),
    ],
)
def test_log_files_named_by_their_slice(ordering: Sequence[str], token: str, severity: set[tuple[str, str]]) -> None:
    """LF-004: deployed writers name files so. Answers are wrong only in commit-time order, if the later write is merged first."""
    storage = written(ordering)
    assert severities(storage) == set()
    named_by_slice(storage, token)
    assert severities(storage) == severity


def test_other_tables_have_no_such_names() -> None:
    """BF-009: without consistent hashing, a log file of another instant is that of another action."""
    table = t._new("MERGE_ON_READ")
    for fare in range(3):
        table.upsert(t.rows(1, fare=fare))
    named_by_slice(table.storage, "9-2-3")
    assert ("BF-009", "wrong-answers") in severities(table.storage)
