"""Files that cannot be read, and files of junk: each validation ends with findings of a rule, and no check breaks."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from shutil import copytree

import clauses_samples as c
import deep_damage_samples as d
import pyarrow as pa
import pytest
import validated_tables_samples as t

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.storage_reads import StorageReads
from hudi_conformance.validator.all_checks import ALL, CHEAP
from hudi_conformance.validator.checks.finding import Check
from hudi_conformance.validator.validation import Validation, validate
from hudi_reference.errors import AccessDenied
from hudi_reference.storage import LocalStorage, Storage

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Denied(StorageReads):
    """A storage that refuses to read one file."""

    storage: Storage
    denied: str

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Raises AccessDenied for the file."""
        self._check(path)
        return self.storage.get(path, start, length)

    def open(self, path: str) -> pa.NativeFile:
        """Raises AccessDenied for the file."""
        self._check(path)
        return self.storage.open(path)

    def _check(self, path: str) -> None:
        if path == self.denied:
            raise AccessDenied("permission denied", path=path)


def examined(storage: Storage) -> Validation:
    """All checks on the table."""
    found = validate(c.stored(storage), ALL)
    assert not found.broken, found.broken
    return found


def _chosen(storage: Storage) -> list[str]:
    """One file of each kind: by folder, and by the letters of the name."""
    kinds: dict[tuple[str, str], str] = {}
    for info in storage.list(""):
        folder, _, name = info.path.rpartition("/")
        if info.size and not name.startswith(".hoodie_partition_metadata"):
            kinds[folder, name.partition(".")[2].strip("0123456789-_") or name] = info.path
    return sorted(kinds.values())


INITIAL_LOG = re.compile(r"\.hoodie/metadata/[a-z_]+/\.[^/]*\.log\.1_[^/]*")
MAKERS: dict[str, Callable[[], Storage]] = {"indexes": d.indexed_merge_on_read, "history": t.archived}


@pytest.mark.parametrize("make", MAKERS)
def test_a_file_that_cannot_be_read_is_a_finding(make: str) -> None:
    """Whichever file storage refuses to read, the others are examined, and a finding names the file."""
    storage = MAKERS[make]()
    for path in _chosen(storage):
        found = examined(Denied(storage, path))  # type: ignore[arg-type]
        if "requested" in path or "inflight" in path or path.endswith("backup"):
            continue  # no query reads the profile of a write at work
        assert any(path.endswith(one.path) or one.path in path or "permission" in one.found for one in found.findings), path


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "junk", [b"", b"\0" * 200, bytes(range(256)) * 3, b'{"a": ' * 100], ids=["empty", "zeros", "binary", "nested"]
)
def test_a_file_of_junk_breaks_no_check(make: str, junk: bytes) -> None:
    """Whichever file has junk in it, the validation ends, and the cheap tier too."""
    for path in _chosen(MAKERS[make]()):
        storage = MAKERS[make]()
        storage.put(path, junk)
        found = validate(c.stored(storage), CHEAP)
        assert not found.broken, (path, found.broken)
        if junk or not INITIAL_LOG.fullmatch(path):  # metadata does not name the first log file of an index, which has no rows
            assert examined(storage).findings or "requested" in path or "inflight" in path, path


@pytest.mark.parametrize(("replaced", "by"), list(permutations(range(6), 2)))
def test_a_base_file_in_the_place_of_another_breaks_no_check(tmp_path: Path, replaced: int, by: int) -> None:
    """A file group may seem to have rows that a later write stored; the search for the write that repeated a key ends."""
    table = copytree(fixtures_root() / "queries" / "changes.keys.cow.by-reference" / "table", tmp_path / "table")
    files = sorted(table.glob("*.parquet"))
    files[replaced].write_bytes(files[by].read_bytes())
    assert examined(LocalStorage(table)).findings


@pytest.mark.parametrize("tier", [CHEAP, ALL], ids=["cheap", "all"])
def test_a_fault_of_the_storage_is_not_called_damage(tier: Sequence[Check]) -> None:
    """A file of the metadata table that storage refuses to read is named by its path below the base path; no finding says that
    rows are lost, or that the metadata table should be built again because of it."""
    storage = d.indexed_merge_on_read()
    metafile = next(info.path for info in storage.list("", skip=".hoodie") if "partition_metadata" in info.path)
    for path in (metafile, *_chosen(storage)):
        findings = validate(c.stored(Denied(storage, path)), tier).findings  # type: ignore[arg-type]
        of_fault = [one for one in findings if "permission denied" in one.found]
        assert not of_fault or path in {one.path for one in of_fault}, (path, of_fault)
        assert of_fault or path not in {one.path for one in findings}, (path, findings)
        assert {one.severity for one in of_fault} <= {"wrong-answers"}, of_fault
        assert not any("delete_metadata_table" in one.remedy or "drop-index" in one.remedy for one in of_fault), of_fault
