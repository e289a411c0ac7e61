"""A deletion of partitions that names none, in tables of Apache Hudi with a metadata table."""

import pytest
import validated_tables_samples as t

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.validator.all_checks import CHEAP
from hudi_reference.storage import MemoryStorage, Storage

TABLE = "queries/skipping.after-a-deleted-partition.cow.all-rows/table"


def _stored() -> Storage:
    """The table in memory."""
    folder, storage = fixtures_root() / TABLE, MemoryStorage()
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        storage.put(path.relative_to(folder).as_posix(), path.read_bytes())
    return storage


def _lose_the_list(storage: Storage) -> None:
    t.change_record(storage, t.completed(storage, "replacecommit"), lambda record: record.update(partitionToReplaceFileIds={}))


def _lose_its_update(storage: Storage) -> None:
    """The metadata table says that the deletion deleted no entry, as if its pattern had matched no partition."""
    requested = t.completed(storage, "replacecommit").rpartition("/")[2].partition("_")[0]
    path = t.paths(storage, f".hoodie/metadata/.hoodie/timeline/{requested}_", ".deltacommit")[0]

    def change(record: dict[str, dict[str, list[dict[str, int]]]]) -> None:
        for stat in t.stats_of(record):
            stat["numDeletes"] = 0

    t.change_record(storage, path, change)


@pytest.mark.parametrize(("has_deleted_entries", "rules"), [(True, {"TL-039"}), (False, set())])
def test_a_deletion_that_deleted_entries_names_partitions(has_deleted_entries: bool, rules: set[str]) -> None:
    """TL-039: the metadata table deleted statistics of partitions for the write, so that it did not delete no partition."""
    storage = _stored()
    assert not [one for one in t.validated(storage, CHEAP).findings if one.rule == "TL-039"]
    _lose_the_list(storage)
    if not has_deleted_entries:
        _lose_its_update(storage)
    found = [one for one in t.validated(storage, CHEAP).findings if one.rule == "TL-039"]
    assert {one.rule for one in found if one.severity == "wrong-answers"} == rules
