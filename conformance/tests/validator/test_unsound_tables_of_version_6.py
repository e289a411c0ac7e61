"""Damages of tables of version 6, which has its instants in `.hoodie` and its actions in JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import validated_tables_samples as t

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.validator.all_checks import ALL, CHEAP
from hudi_reference.layout.names import split_path
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.timeline.contents.actions import read_action, write_action
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.instants.version_6 import parse_legacy_name

TABLES = fixtures_root() / "compatibility"
#: After all golden tables were made.
LATER = 2_000_000_000_000


def _copied(folder: Path) -> Storage:
    storage = MemoryStorage()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            storage.put(path.relative_to(folder).as_posix(), path.read_bytes())
    return storage


def _completed(storage: Storage, number: int = -1) -> str:
    found = (path for path in t.paths(storage, ".hoodie/2") if path.count("/") == 1)
    return [path for path in found if path.endswith((".commit", ".deltacommit"))][number]


def _swap(storage: Storage) -> None:
    first, second = _completed(storage, 0), _completed(storage)
    one, other = storage.get(first), storage.get(second)
    storage.put(first, other)
    storage.put(second, one)


def _into_partition(storage: Storage) -> None:
    path = _completed(storage)
    partition = t.base_files(storage)[-1].rpartition("/")[0]
    t.move(storage, path, f"{partition}/{path.rpartition('/')[2]}")


def _replace_the_latest(storage: Storage) -> None:
    """The overwrite says that it replaced the file group of the last write, which began later."""
    last = _completed(storage)
    stat = t.stats_of(json.loads(storage.get(last)))[0]
    path = next(one for one in t.paths(storage, ".replacecommit") if one.count("/") == 1 and one.endswith(".replacecommit"))
    record = json.loads(storage.get(path))
    record["partitionToReplaceFileIds"].setdefault(stat["partitionPath"], []).append(stat["fileId"])
    storage.put(path, json.dumps(record).encode())


def _copy_log_to_the_next_slice(storage: Storage) -> None:
    first, second = t.log_files(storage)
    storage.put(second.replace(".log.1_", ".log.2_"), storage.get(first))


def _cut_archive(storage: Storage) -> None:
    t.cut(storage, next(path for path in t.paths(storage, ".hoodie/history/") if ".archive." in path), 40)


def _to_new_layout(storage: Storage) -> None:
    path = _completed(storage)
    requested, _, action = path.rpartition("/")[2].partition(".")
    t.move(storage, path, f".hoodie/timeline/{requested}_{int(requested) + 1}.{action}")


def _plan(change: Callable[[Any], object]) -> Callable[[Storage], None]:
    """Change the plan of the pending compaction."""

    def edit(storage: Storage) -> None:
        path = [one for one in t.paths(storage, ".compaction.requested") if one.count("/") == 1][-1]
        instant = parse_legacy_name(path.rpartition("/")[2])
        assert instant is not None
        record = read_action(storage.get(path), path, instant)
        change(record)
        storage.put(path, write_action(instant, record, bytes(16)))

    return edit


def _fail_a_log_compaction(storage: Storage) -> None:
    """It stored its file in the slice of the plan, and did not complete: the plan came afterwards and lacks the file."""
    planned = next(path for path in t.paths(storage, ".compaction.requested") if path.startswith(".hoodie/20261122012840448"))
    (merged,) = [path for path in t.log_files(storage) if "20261122012829208.log.1_" in path]
    plan, write, failed = "20261122012840448", b"20261122012835000", "20261122012837000"
    instant = Instant(failed, "logcompaction", State.REQUESTED)
    source = parse_legacy_name(f"{plan}.compaction.requested")
    assert source is not None
    content = write_action(instant, read_action(storage.get(planned), planned, source), bytes(16))
    storage.put(f".hoodie/{failed}.logcompaction.requested", content)
    storage.put(f".hoodie/{failed}.logcompaction.inflight", b"")
    storage.put(merged.replace(".log.1_", ".log.2_"), storage.get(merged).replace(write, failed.encode()))


DAMAGES: dict[str, tuple[str, str, Callable[[Storage], object]]] = {
    "lost base file": ("v6.cow", "TL-036", lambda s: s.delete(t.base_files(s)[-1])),
    "lost log file": ("v6.mor", "TL-036", lambda s: s.delete(t.log_files(s)[-1])),
    "cut base file": ("v6.cow", "TL-005", lambda s: t.cut(s, t.base_files(s)[-1], 9)),
    "longer base file": ("v6.cow", "TL-005", lambda s: s.put(t.base_files(s)[-1], s.get(t.base_files(s)[-1]) + b"PAR1")),
    "damaged footer": ("v6.cow", "BF-002", lambda s: t.flip(s, t.base_files(s)[-1], -1)),
    "cut log file": ("v6.mor", "TL-005", lambda s: t.cut(s, t.log_files(s)[-1], 9)),
    "damaged block": ("v6.mor", "BLK-015", lambda s: t.flip(s, t.log_files(s)[-1], -1)),
    "log file of another slice": ("v6.mor.compacted", "LF-007", _copy_log_to_the_next_slice),
    "cut metadata": ("v6.cow", "COMPAT-003", lambda s: t.cut(s, _completed(s), 40)),
    "empty metadata": ("v6.mor", "COMPAT-003", lambda s: s.put(_completed(s), b"")),
    "cut archive": ("v6.cow.archived", "COMPAT-003", _cut_archive),
    "swapped metadata": ("v6.cow", "BF-009", _swap),
    "completed file in a partition": ("v6.cow", "LAY-017", _into_partition),
    "completed file in the folder of version 8": ("v6.cow", "COMPAT-006", _to_new_layout),
    "a lost first write": ("v6.cow", "TL-036", lambda s: s.delete(_completed(s, 0))),
    "a lost last write": ("v6.mor", "TL-030", lambda s: s.delete(_completed(s))),
    "a write to a replaced group": ("v6.cow", "OCC-016", _replace_the_latest),
    "no version": ("v6.cow", "PROP-006", lambda s: t.change_properties(s, {"hoodie.table.version": None})),
    "version 8 with the layout of version 6": ("v6.cow", "PROP-010", lambda s: t.change_properties(s, {"hoodie.table.version": "8"})),
    "a group twice in a plan": (
        "v6.mor.pending-compaction", "TL-015", _plan(lambda record: record["operations"].append(record["operations"][0])),
    ),
    "a plan of a file that is gone": (
        "v6.mor.pending-compaction", "CLN-002", _plan(lambda record: record["operations"][0].update(partitionPath="gone")),
    ),
    "a plan without a log file": (
        "v6.mor.pending-compaction", "CMP-003", _plan(lambda record: record["operations"][0]["deltaFilePaths"].pop()),
    ),
    "checksum": ("v6.mor", "PROP-011", lambda s: t.change_properties(s, {"hoodie.table.checksum": "1"}, checksum=False)),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damage_is_found_with_its_rule(name: str) -> None:
    """The table has no finding before, and one with the rule of the damage after."""
    table, rule, edit = DAMAGES[name]
    storage = _copied(TABLES / table / "table")
    assert t.validated(storage, CHEAP, LATER).findings == ()
    edit(storage)
    assert rule in t.rules_of(t.validated(storage, CHEAP, LATER).findings)


#: What writers of version 6 leave, and no table of version 8 has.
SOUND: dict[str, tuple[str, Callable[[Storage], object]]] = {
    "an inflight file alone": ("v6.cow", lambda s: s.put(".hoodie/20200101000000000.inflight", b"")),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_version_6_leaves_is_no_finding(name: str) -> None:
    """TL-048: before version 8 a write may begin without a requested file."""
    table, edit = SOUND[name]
    storage = _copied(TABLES / table / "table")
    edit(storage)
    assert t.validated(storage, CHEAP, LATER).findings == ()


def test_the_file_of_a_failed_log_compaction_is_no_lost_change() -> None:
    """CMP-003: the name of a log file is no sign of a completed write, because it has the instant of the base file."""
    storage = _copied(TABLES / "v6.mor.pending-compaction" / "table")
    _fail_a_log_compaction(storage)
    assert t.rules_of(t.validated(storage, CHEAP, LATER).findings) == {"TL-030"}


@pytest.mark.parametrize("table", ["v6.cow.archived", "v6.mor.archived"])
@pytest.mark.parametrize("kept", [0, 0.5, 0.99])
def test_actions_that_a_cut_archive_lacks_are_not_lost(table: str, kept: float) -> None:
    """COMPAT-003: no query of version 6 reads the archive. The cut file is the finding, and not what it may have named."""
    storage = _copied(TABLES / table / "table")
    path = t.paths(storage, ".commits_.archive.")[-1]
    content = storage.get(path)
    storage.put(path, content[: int(len(content) * kept)])
    found = {(one.rule, one.severity, one.path) for one in t.validated(storage, ALL, LATER).findings}
    assert found == {("COMPAT-003", "cosmetic", path)}


def test_a_command_that_does_not_change_version_6_comes_after_the_upgrade() -> None:
    """COMPAT-005: the services refuse tables of version 6, so that the remedy names the upgrade."""
    storage = _copied(TABLES / "v6.mor" / "table")
    storage.delete(_completed(storage))
    remedies = [one.remedy for one in t.validated(storage, CHEAP, LATER).findings if "hudi-conformance service" in one.remedy]
    assert remedies
    assert all("after hudi-conformance migrate TABLE --yes" in one for one in remedies)


@pytest.mark.parametrize(("file", "is_found"), [(t.base_files, True), (t.log_files, False)])
def test_a_rollback_that_says_that_it_deleted_a_file_of_the_latest_state(
    file: Callable[[Storage], list[str]], is_found: bool
) -> None:
    """TL-019: a later write of version 6 may store a log file with the name of a deleted one, but no base file."""
    storage = _copied(TABLES / "v6.mor.rolled-back" / "table")
    path = next(one for one in t.paths(storage, ".rollback") if one.count("/") == 1 and one.endswith(".rollback"))
    instant, (folder, name) = parse_legacy_name(path.rpartition("/")[2]), split_path(file(storage)[-1])
    assert instant is not None
    record: Any = read_action(storage.get(path), path, instant)
    entry = {"partitionPath": folder, "successDeleteFiles": [name], "failedDeleteFiles": []}
    record |= {"partitionMetadata": {folder: entry}, "totalFilesDeleted": 1}
    storage.put(path, write_action(instant, record, bytes(16)))
    found = {(one.rule, one.severity) for one in t.validated(storage, CHEAP, LATER).findings}
    assert (("TL-019", "wrong-answers") in found) == is_found
