"""Damages of files that cleans, rollbacks and restores removed, that they are about to remove, and that savepoints protect."""

from collections.abc import Callable
from typing import Any

import validated_tables_samples as t
from contradiction_damages_samples import _name_another_log_file, restored, rolled_back
from damages_samples import Damage
from plans_damages_samples import _restored_latest, _rolled_back_latest
from trace_damages_samples import planned_on_archived

from hudi_reference.layout.names import split_path
from hudi_reference.services.rollback.rollback import schedule_rollback
from hudi_reference.storage import Storage
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

_NAMED = "presence.named-files"


def say_cleaned(storage: Storage, path: str) -> None:
    """The last clean says that it deleted a file. A table without a clean gets that of another table."""
    folder, name = split_path(path)
    if not t.paths(storage, f"{t.TIMELINE}/", "_", ".clean"):
        source = t.cleaned()
        for one in t.paths(source, f"{t.TIMELINE}/", ".clean"):
            storage.put(one, source.get(one))

    def change(record: Any) -> None:
        entry = next(iter(record["partitionMetadata"].values()))
        nothing = {key: list[str]() for key in ("deletePathPatterns", "successDeleteFiles", "failedDeleteFiles")}
        mine = record["partitionMetadata"].setdefault(folder, {**entry, **nothing, "partitionPath": folder})
        mine["deletePathPatterns"] = [*mine["deletePathPatterns"], name]

    t.change_record(storage, t.completed(storage, "clean"), change)


def _and_lose(say: Callable[[Storage], object], number: int = -1) -> Callable[[Storage], None]:
    """An action says that it deleted a base file, which is gone."""

    def edit(storage: Storage) -> None:
        path = t.base_files(storage)[number]
        say(storage)
        storage.delete(path)

    return edit


def _say_cleaned_latest(storage: Storage) -> None:
    say_cleaned(storage, t.base_files(storage)[-1])


def _clean_log_of_an_attempt(storage: Storage) -> None:
    """A clean says that it deleted a log file of the latest slice, which the entry of the next one of its task lists."""
    t.change_record(storage, t.completed(storage, "deltacommit"), _name_another_log_file)
    entry: list[Any] = []
    t.change_record(storage, t.completed(storage, "deltacommit"), lambda record: entry.extend(t.stats_of(record)))
    name = next(one for stat in entry for one in stat["logFiles"] if ".log.2_" in one)
    folder = next(split_path(stat["path"])[0] for stat in entry if name in stat["logFiles"])
    say_cleaned(storage, f"{folder}/{name}")


def _lose_latest_in_south(storage: Storage) -> None:
    storage.delete([path for path in t.base_files(storage) if path.startswith("south/")][-1])


def _begin_rollback(storage: Storage) -> None:
    """A rollback of the last write has deleted its files, and has not removed its instant."""
    table = t.reopened(storage)
    requested = schedule_rollback(table, table.timeline.commits[-1].requested)
    storage.put(f"{t.TIMELINE}/{Instant(requested, 'rollback', State.INFLIGHT).file_name}", b"")
    for path in t.base_files(storage)[-2:]:
        storage.delete(path)


def _lose_completed(*, has_markers: bool) -> Callable[[Storage], None]:
    """The completed file of the last write is gone. Its writer removes the markers after completion."""

    def edit(storage: Storage) -> None:
        path = t.completed(storage, "commit")
        requested = split_path(path)[1].partition("_")[0]
        if has_markers:
            storage.put(f".hoodie/.temp/{requested}/north/a.parquet.marker.CREATE", b"")
        storage.delete(path)

    return edit


REMOVAL_DAMAGES = (
    Damage("files of a write that may have completed", "owners.data-files", "TL-030", t.copy_on_write,
           _lose_completed(has_markers=False), severity="lost-space", says="restore the completed file"),
    Damage("files of a write that crashed", "owners.data-files", "TL-030", t.copy_on_write, _lose_completed(has_markers=True),
           severity="lost-space", says="sends no heartbeat\nhudi-conformance service TABLE rollback"),
    Damage("lost file of an archived write in the latest slice", _NAMED, "TL-036", planned_on_archived,
           _lose_latest_in_south, ("CLN-002",), "data-lost"),
    Damage("a clean that deleted a file of the latest slice", _NAMED, "CLN-001", t.cleaned, _and_lose(_say_cleaned_latest),
           ("TL-035",), "data-lost"),
    Damage("a clean that deleted a log file of the latest slice", _NAMED, "CLN-001", t.merge_on_read, _clean_log_of_an_attempt,
           ("TL-005", "TL-035", "ARC-002"), "data-lost"),
    Damage("a rollback that deleted a file of the latest slice", _NAMED, "TL-019", rolled_back, _and_lose(_rolled_back_latest),
           ("TL-035",), "data-lost"),
    Damage("a restore that deleted a file of the latest slice", _NAMED, "TL-019", restored, _and_lose(_restored_latest),
           ("TL-023", "TL-021"), "data-lost"),
    Damage("a rollback that stopped midway", _NAMED, "TL-023", t.copy_on_write, _begin_rollback, (), "wrong-answers"),
    Damage("a longer log file", "presence.sizes", "TL-005", t.merge_on_read,
           lambda s: s.put(t.log_files(s)[-1], s.get(t.log_files(s)[-1]) + b"xx"), ("LF-025",), "cosmetic"),
)  # fmt: skip
