"""What a savepoint names of the slices that its write left."""

from typing import Any

import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import CHEAP
from hudi_reference import savepoint
from hudi_reference.storage import Storage


def _saved() -> Storage:
    """A savepoint of base files and log files, and a later write of log files."""
    storage = t.merge_on_read()
    table = t.reopened(storage)
    savepoint(table, table.timeline.commits[-1].requested)
    t.reopened(storage).upsert(t.rows(1, 2, fare=9))
    return storage


def _leave_out(storage: Storage, part: str) -> set[str]:
    """Take the names with this part out of the savepoint, and return them."""
    lost = set[str]()

    def change(record: Any) -> None:
        for entry in record["partitionMetadata"].values():
            lost.update(name for name in entry["savepointDataFile"] if part in name)
            entry["savepointDataFile"] = [name for name in entry["savepointDataFile"] if part not in name]

    t.change_record(storage, t.completed(storage, "savepoint"), change)
    return lost


@pytest.mark.parametrize("part", [".log.1", ".log.", ".parquet"])
def test_a_savepoint_without_files_of_its_slices(part: str) -> None:
    """TL-021: a clean may delete a base file or a log file that the savepoint does not name."""
    storage = _saved()
    assert t.validated(storage, CHEAP).findings == ()
    lost = _leave_out(storage, part)
    found = [one for one in t.validated(storage, CHEAP).findings if one.rule == "TL-021"]
    assert {one.path.rpartition("/")[2] for one in found} == lost
    assert {one.severity for one in found} == {"cosmetic"}


def test_a_savepoint_of_version_6_names_base_files_alone() -> None:
    """TL-021: in a table that was upgraded from version 6 a savepoint need not name log files."""
    storage = _saved()
    t.change_properties(storage, {"hoodie.table.initial.version": "6"})
    assert _leave_out(storage, ".log.")
    assert "TL-021" not in {one.rule for one in t.validated(storage, CHEAP).findings}
