"""Large tables are examined in parts, and with `--sample` or `--partition` only some of them: the findings are those of the whole."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import deep_damage_samples as d
import pytest
import test_deep_damage as damages
import test_repeated_keys as keys
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.stored.scope import Scope
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference.clock import ManualClock
from hudi_reference.storage import Storage

_DEEP = "hudi_conformance.validator.checks.deep"


@contextmanager
def small_parts(rows: int = 8) -> Iterator[None]:
    """A part has one file group of an index, or about so many rows."""
    with patch(f"{_DEEP}.key_entries.AT_ONCE", 1), patch(f"{_DEEP}.keys.AT_ONCE", rows):
        yield


def partitioned() -> Storage:
    """A table with a record index of each partition."""
    table = d._create("COPY_ON_WRITE", keys.PARTITIONED)
    table.upsert(d.rows(*range(16)))
    table.upsert(d.rows(0, 1, ts=2))
    return table.storage  # type: ignore[no-any-return]


INDEXED = (d.indexed, d.indexed_merge_on_read, d.indexed_of_version_9, partitioned)


@pytest.mark.parametrize("make", INDEXED, ids=lambda make: make.__name__)
def test_a_sound_table_has_no_finding_in_parts(make: Callable[[], Storage]) -> None:
    """IDX-010, IDX-024: an entry of another part is neither missing nor without a row."""
    storage = make()
    with small_parts():
        assert d.found_in(storage) == []


#: Damages of keys and of their entries.
OF_KEYS = (
    "a key without a location", "a key with another location", "a location in no file group", "a location of no row",
    "a key in two partitions", "a pair missing", "a pair missing in version 9", "a pair of no row", "a row twice in a file",
    "a row in another file group", "rows in another bucket",
)  # fmt: skip


@pytest.mark.parametrize("name", OF_KEYS)
def test_a_damage_is_found_in_parts(name: str) -> None:
    """Each damage has the findings of the whole."""
    (case,) = (one for one in damages.DAMAGES if one.name == name)
    storage = case.make()
    case.edit(storage)
    with small_parts(15 if "bucket" in name else 8):
        found = {(one.rule, one.severity) for one in d.found_in(storage)}
    assert d.without_statistics(found, case.rules) == case.rules


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
