"""Large tables are examined in parts, and with `--sample` or `--partition` only some of them: the findings are those of the whole."""

from collections.abc import Callable

import deep_damage_samples as d
import pytest
import validated_tables_samples as t
from entry_damages_samples import ENTRY_DAMAGES
from history_damages_samples import with_values
from timeline_damages_samples import edit_history

from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.stored.scope import Scope
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference import archive, clean
from hudi_reference.clock import ManualClock
from hudi_reference.storage import Storage

#: A record index of two file groups in each partition.
PARTITIONED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.level.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
}


def partitioned() -> Storage:
    """A table with a record index of each partition."""
    table = d._create("COPY_ON_WRITE", PARTITIONED)
    table.upsert(d.rows(*range(16)))
    table.upsert(d.rows(0, 1, ts=2))
    return table.storage  # type: ignore[no-any-return]


INDEXED = (d.indexed, d.indexed_merge_on_read, d.indexed_of_version_9, partitioned)


@pytest.mark.parametrize("make", INDEXED, ids=lambda make: make.__name__)
def test_a_sound_table_has_no_finding_in_parts(make: Callable[[], Storage]) -> None:
    """IDX-010, IDX-024: an entry of another part is neither missing nor without a row."""
    storage = make()
    with d.small_parts():
        assert d.found_in(storage) == []


SCOPES = {
    "a partition": Scope(partitions=("x",)), "a partition of another table": Scope(partitions=("north",)), "a sample": Scope(sample=1),
}  # fmt: skip
SOUND = (
    *INDEXED, d.merge_on_read, d.compacted, d.bucketed, t.with_metadata_table, t.compacted, t.clustered, t.cleaned,
    lambda: t.with_plan("compaction"),
)  # fmt: skip


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("make", SOUND)
def test_a_part_of_a_sound_table_has_no_finding(make: Callable[[], Storage], scope: str) -> None:
    """What is not examined is not taken for lost."""
    table = load_table("memory:///deep", storage=make(), scope=SCOPES[scope], clock=ManualClock(t.LATER))
    found = validate(table, ALL)
    assert (found.broken, found.findings) == ((), ())


def _without_a_location() -> Storage:
    """A table whose record index lacks a key."""
    d.change_index(storage := d.indexed(), "record_index", removed=[min(d.entries_of(storage, "record_index"))])
    return storage


def _with_other_sizes() -> Storage:
    """A table whose metadata table has other sizes of partitions."""
    make, edit, _ = ENTRY_DAMAGES["sizes of partitions"]
    edit(storage := make())
    return storage


@pytest.mark.parametrize(
    ("damaged", "scope"),
    [(_without_a_location, "a partition"), (_without_a_location, "a sample"), (_with_other_sizes, "a partition")],
)
def test_indexes_of_the_whole_table_are_not_examined_in_a_part(damaged: Callable[[], Storage], scope: str) -> None:
    """IDX-010, MDT-007: entries of other partitions, or of files that are not opened, are not judged."""
    table = load_table("memory:///deep", storage=damaged(), scope=SCOPES[scope], clock=ManualClock(t.LATER))
    found = validate(table, d.DEEP)
    assert (found.broken, found.findings) == ((), ())


@pytest.mark.parametrize("is_known", [True, False])
def test_times_are_not_judged_if_a_write_is_not_known(is_known: bool) -> None:
    """IDX-020: an archived write with damaged metadata may be the one of which an entry has the time; its files were cleaned."""
    options = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.index.enable": "true"}
    table = t._new("COPY_ON_WRITE", **options, **{"hoodie.metadata.compact.max.delta.commits": "2"})
    for fare in range(5):
        table.upsert(t.rows(1, 2, fare=fare))
    reopened = t.reopened(table.storage)
    assert clean(reopened, {"hoodie.clean.commits.retained": "1"})
    assert archive(reopened, {"hoodie.keep.max.commits": "3", "hoodie.keep.min.commits": "2"}).instants
    if not is_known:
        edit_history(lambda rows: with_values(rows, {"metadata": b"junk"}))(table.storage)
    assert d.found_in(table.storage) == []
