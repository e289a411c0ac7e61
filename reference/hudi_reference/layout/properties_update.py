"""Atomic updates of the table properties, spec "Table Properties": a reader sees all of an update or nothing.

    backup created → file written → file read again → backup deleted

A crash leaves a valid file, or a valid backup next to an invalid file, and the next update repairs that. Deployed writers
also delete the file before they write it, because their storage may show a partial file; then only the backup exists. Updates
run under the lock of the table.
"""

from collections.abc import Iterable, Mapping

from hudi_reference.errors import InterruptedUpdate
from hudi_reference.layout.java_properties import dump, load
from hudi_reference.layout.properties import (
    BACKUP_PATH,
    PROPERTIES_PATH,
    TableProperties,
    check_entries,
    read_properties,
    with_checksum,
)
from hudi_reference.locks import Lock, hold_lock, new_owner
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage


@implements("S3-005", "PROP-011", "LAY-013")
def update_properties(
    storage: Storage, lock: Lock, changes: Mapping[str, str], deleted: Iterable[str] = (), *, comment: str, owner: str = ""
) -> TableProperties:
    """Set and delete keys, and return the new properties. `owner`, if given, holds the lock already.

    Raises Misuse for values that are not allowed, MalformedProperties if neither file nor backup is valid, InterruptedUpdate if
    another process wrote the file meanwhile, LockNotHeld if the lock was lost.
    """
    holder = owner or new_owner("properties")
    with hold_lock(lock, holder):
        recover(storage)
        now = dict(read_properties(storage).entries)
        then = {key: value for key, value in {**now, **changes}.items() if key not in set(deleted)}
        check_entries(then)
        then = with_checksum(then)
        if then != now:
            lock.check(holder)
            _replace(storage, now, then, comment)
        return TableProperties(then)


def _replace(storage: Storage, now: Mapping[str, str], then: Mapping[str, str], comment: str) -> None:
    storage.create(BACKUP_PATH, dump(with_checksum(now), "backup"))
    storage.put(PROPERTIES_PATH, dump(then, comment))
    if load(storage.get(PROPERTIES_PATH)) != then:
        raise InterruptedUpdate(
            "the file differs from what was written", rule="S3-005", path=PROPERTIES_PATH,
            remedy="another process changed it without the lock of the table; configure one lock for all writers",
        )  # fmt: skip
    storage.delete(BACKUP_PATH)


@implements("S3-005", "PROP-011")
def recover(storage: Storage) -> None:
    """Complete an interrupted update: afterwards there is one valid file and no backup.

    An invalid file is replaced by the valid backup, which is deleted afterwards. Raises MalformedProperties if neither is
    valid, and InterruptedUpdate if only the backup can be parsed and it may be truncated; then nothing is changed.
    """
    if storage.head(BACKUP_PATH) is None:
        return
    chosen = read_properties(storage)
    if chosen.path == BACKUP_PATH:
        if not chosen.is_ended:
            raise InterruptedUpdate(
                "the file is invalid and its backup may be truncated", rule="S3-005", path=BACKUP_PATH,
                remedy="restore hoodie.properties from another copy of the table",
            )  # fmt: skip
        storage.put(PROPERTIES_PATH, storage.get(BACKUP_PATH))
    storage.delete(BACKUP_PATH)
