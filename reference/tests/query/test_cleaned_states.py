"""States whose files a clean deleted: the error says so, and a file that was lost is another error."""

import pytest
from service_tables import rows, table_of

from hudi_reference import clean, compact
from hudi_reference.errors import InvalidQuery, MissingDataFile

ONE_VERSION = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}


def table_with_one_version(kind):
    """A table of four writes, of whose slices only the last is left; the times of the states that were cleaned."""
    table, times, _ = table_of(kind)
    if kind == "MERGE_ON_READ":
        compact(table)
    assert clean(table, ONE_VERSION)
    return table, times if kind == "MERGE_ON_READ" else times[:-1]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_state_before_a_clean_by_versions_was_cleaned(kind):
    """CLN-003: such a clean does not say which instant it retained, but its files show which states are gone."""
    table, cleaned = table_with_one_version(kind)
    for time in cleaned:
        for read in (table.as_of, lambda time: list(table.batches(as_of=time))):
            with pytest.raises(InvalidQuery, match="the files of this time were cleaned") as refused:
                read(time)
            assert refused.value.rule == "CLN-003"
    assert rows(table) == [("a", "a3"), ("b", "b3")]


def test_a_file_that_no_clean_deleted_was_lost():
    """TL-036: beside a clean, too."""
    table, _ = table_with_one_version("COPY_ON_WRITE")
    last = table.timeline.commits[-1].requested
    (file_slice,) = table.file_groups().latest_slices
    table.upsert(table.snapshot().drop_columns([name for name in table.snapshot().column_names if name.startswith("_hoodie")]))
    table.storage.delete(file_slice.path(file_slice.base_file))
    with pytest.raises(MissingDataFile):
        table.as_of(last)
