"""Queries while another process archives: actions are removed between the listing of the timeline and their read."""

from types import SimpleNamespace

import pytest
from reference_samples import new_table, reopened, trip, trips

from hudi_reference import archive
from hudi_reference.errors import ActionRemoved
from hudi_reference.storage import MemoryStorage

LIMITS = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}


class ArchivedMeanwhile(MemoryStorage):
    """Storage in which archiving runs just before the first commit is read."""

    is_due = False

    def get(self, path, start=0, length=None):
        if self.is_due and path.endswith(".commit"):
            self.is_due = False
            assert archive(reopened(SimpleNamespace(storage=self)), LIMITS)
        return super().get(path, start, length)


def written():
    """A table of six writes in such a storage."""
    table = new_table(ArchivedMeanwhile(), options={"hoodie.archive.automatic": "false"})
    for number in range(6):
        table.insert(trips(trip(f"{number}", "a")))
    return table


def test_a_query_beside_archiving_has_all_rows():
    """LSM-001, TL-047: a listed action that was archived meanwhile is read from the history, and the query is no error."""
    table = written()
    table.storage.is_due = True
    assert table.snapshot().num_rows == 6
    assert not table.storage.is_due
    assert len(table.timeline.commits) < 6


def test_an_action_that_stays_missing_is_an_error():
    """TL-047: the listing has the file of an action, and it cannot be read at any try."""
    table = written()
    tries = []

    def get(path, start=0, length=None):
        if path.endswith(".commit"):
            tries.append(path)
            raise FileNotFoundError(path)
        return MemoryStorage.get(table.storage, path, start, length)

    table.storage.get = get
    with pytest.raises(ActionRemoved, match="the file of an action is missing"):
        table.snapshot()
    assert 1 < len(tries) < 10
