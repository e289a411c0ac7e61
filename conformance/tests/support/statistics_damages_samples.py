"""Damages of entries in the metadata of one action, of the version file of the history, and of what a clean says."""

import json
from collections.abc import Callable
from typing import Any

import validated_tables_samples as t
from damages_samples import Damage

from hudi_reference.layout.names import split_path
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.storage import Storage


def _in_entry(action: str, change: Callable[[Any], object]) -> Callable[[Storage], None]:
    """Change the first entry of the last completed write."""
    return lambda storage: t.change_record(storage, t.completed(storage, action), lambda record: change(t.stats_of(record)[0]))


def _name_twice(storage: Storage) -> None:
    """The last write names one of its files twice."""

    def change(record: Any) -> None:
        entries = next(iter(record["partitionToWriteStats"].values()))
        entries.append(entries[0])

    t.change_record(storage, t.completed(storage, "commit"), change)


def _retain_the_future(storage: Storage) -> None:
    """The clean says that it retains writes from a time on that is later than all of them."""
    t.change_record(storage, t.completed(storage, "clean"), lambda record: record.update(earliestCommitToRetain="2099"))


def _clean_the_latest(storage: Storage) -> None:
    """The clean says that it deleted a base file of the latest state, which is still there, and which it had not planned."""
    folder, name = split_path(t.base_files(storage)[-1])

    def delete(record: Any) -> None:
        some = next(iter(record["partitionMetadata"].values()))
        mine = record["partitionMetadata"].setdefault(folder, {**some, "partitionPath": folder})
        for key in ("deletePathPatterns", "successDeleteFiles"):
            mine[key] = [*mine[key], name]

    t.change_record(storage, t.completed(storage, "clean"), delete)


def _lag_behind(storage: Storage) -> None:
    """The version file names a manifest before the archived actions were added."""
    path, manifest = t.manifest_of(storage)
    number = int(path.rpartition("_")[2])
    storage.put(path, json.dumps({**manifest, "files": []}).encode())
    storage.put(path.replace(f"_{number}", f"_{number + 1}"), json.dumps(manifest).encode())


def _without_checksum(storage: Storage) -> None:
    lines = storage.get(PROPERTIES_PATH).splitlines(keepends=True)
    storage.put(PROPERTIES_PATH, b"".join(line for line in lines if not line.startswith(b"hoodie.table.checksum")))


STATISTICS_DAMAGES = (
    Damage("an entry of another partition", "statistics.entries", "LAY-018", t.copy_on_write,
           _in_entry("commit", lambda stat: stat.update(partitionPath="elsewhere")), severity="wrong-answers"),
    Damage("a file twice", "statistics.entries", "TL-005", t.copy_on_write, _name_twice),
    Damage("no write of the earlier file", "statistics.entries", "TL-005", t.copy_on_write,
           _in_entry("commit", lambda stat: stat.update(prevCommit="null"))),
    Damage("a size of nothing", "statistics.entries", "TL-005", t.copy_on_write,
           _in_entry("commit", lambda stat: stat.update(fileSizeInBytes=0))),
    Damage("fewer rows than none", "statistics.entries", "TL-005", t.copy_on_write,
           _in_entry("commit", lambda stat: stat.update(numDeletes=-1))),
    Damage("events in another order", "statistics.entries", "TL-005", t.copy_on_write,
           _in_entry("commit", lambda stat: stat.update(minEventTime=2, maxEventTime=1))),
    Damage("another version of a log file", "statistics.entries", "TL-005", t.merge_on_read,
           _in_entry("deltacommit", lambda stat: stat.update(logVersion=7))),
    Damage("log files without the own", "statistics.entries", "TL-005", t.merge_on_read,
           _in_entry("deltacommit", lambda stat: stat.update(logFiles=["other"]))),
    Damage("a base file of another group", "statistics.entries", "TL-005", t.merge_on_read,
           _in_entry("deltacommit", lambda stat: stat.update(baseFile=f"x{stat['baseFile']}"))),
    Damage("more updates than rows", "statistics.entries", "TL-005", t.merge_on_read,
           _in_entry("deltacommit", lambda stat: stat.update(numUpdateWrites=7))),
    Damage("a clean that retains nothing", "statistics.retained", "CLN-005", t.cleaned, _retain_the_future),
    Damage("a clean of a live file", "owners.data-files", "CLN-001", t.cleaned, _clean_the_latest, ("TL-014", "TL-035")),
    Damage("a version file that lags behind", "history.later-manifests", "LSM-007", t.archived, _lag_behind,
           ("ARC-004", "OCC-008", "RDR-008"), says=" and 6 more actions"),
    Damage("no checksum", "properties.checksum", "PROP-011", t.copy_on_write, _without_checksum, severity="cosmetic"),
    Damage("a metadata table that no property lists", "metadata.left-over-indexes", "PROP-013", t.with_metadata_table,
           lambda s: t.change_properties(s, {"hoodie.table.metadata.partitions": None}),
           says="of a metadata table that no property lists"),
)  # fmt: skip
