"""With `--partition`, only what is in these partitions is examined and reported."""

from collections.abc import Callable, Iterator

import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.checks.finding import Finding
from hudi_conformance.validator.stored.scope import Scope
from hudi_conformance.validator.stored.table import StoredTable, load_table
from hudi_conformance.validator.validation import validate
from hudi_reference.clock import ManualClock
from hudi_reference.storage import Storage


def _in_south(storage: Storage, text: str) -> str:
    """The last data file of the partition with this text in its path."""
    files = (*t.base_files(storage), *t.log_files(storage))
    return [path for path in files if path.startswith("south/") and text in path][-1]


def _lose(text: str, number: int = -1) -> Callable[[Storage], None]:
    return lambda storage: storage.delete([path for path in t.paths(storage, text) if path.startswith("south/")][number])


def _longer(text: str) -> Callable[[Storage], None]:
    return lambda storage: storage.put(_in_south(storage, text), storage.get(_in_south(storage, text)) + b"xx")


def _copied(text: str, name: str) -> Callable[[Storage], None]:
    return lambda storage: storage.put(f"south/{name}", storage.get(_in_south(storage, text)))


def _lose_savepointed(storage: Storage) -> None:
    storage.delete(next(path for path in t.base_files(storage) if path.startswith("south/")))


#: Tables with a damage of the partition south, and the rule of a finding.
DAMAGES: dict[str, tuple[Callable[[], Storage], Callable[[Storage], None], str]] = {
    "a lost base file": (t.copy_on_write, _lose(".parquet"), "TL-036"),
    "a lost log file": (t.merge_on_read, _lose(".log."), "TL-036"),
    "a longer base file": (t.copy_on_write, _longer(".parquet"), "TL-005"),
    "a damaged base file": (t.copy_on_write, lambda s: t.flip(s, _in_south(s, ".parquet"), -1), "BF-002"),
    "a damaged log file": (t.merge_on_read, lambda s: t.flip(s, _in_south(s, ".log."), 2), "LF-012"),
    "a lost file of a savepoint": (t.cleaned, _lose_savepointed, "TL-021"),
    "a lost file of a plan": (lambda: t.with_plan("compaction"), _lose(".log."), "CLN-002"),
    "a lost file in a metadata table": (t.with_metadata_table, _lose(".log."), "MDT-008"),
    "a renamed base file": (t.copy_on_write, _copied(".parquet", "part-1.parquet"), "BF-003"),
    "a renamed log file": (t.merge_on_read, _copied(".log.", ".x.log.1.bak"), "LF-002"),
    "a file of another program": (t.copy_on_write, lambda s: s.put("south/notes.txt", b"notes"), "RDR-008"),
    "no partition metadata": (t.copy_on_write, lambda s: s.delete("south/.hoodie_partition_metadata"), "LAY-003"),
}


def load(storage: Storage, partition: str) -> StoredTable:
    """The table with this partition alone."""
    scope = Scope(partitions=(partition,))
    return load_table("memory:///sample", storage=storage, clock=ManualClock(t.LATER), scope=scope)


def _validated(storage: Storage, partition: str) -> tuple[Finding, ...]:
    found = validate(load(storage, partition), ALL)
    assert not found.broken, found.broken
    return found.findings


def damaged() -> Iterator[tuple[str, Storage, str]]:
    """The names, the damaged tables, and the rules."""
    for name, (make, edit, rule) in DAMAGES.items():
        storage = make()
        edit(storage)
        yield name, storage, rule


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damage_is_found_in_its_partition_alone(name: str) -> None:
    """The finding is there with the damaged partition, and no finding is there with the other one."""
    make, edit, rule = DAMAGES[name]
    storage = make()
    edit(storage)
    assert rule in t.rules_of(_validated(storage, "south"))
    assert _validated(storage, "north") == ()
