"""Changing the properties of a table, spec "Table Properties": readers see all of a change or nothing of it.

    backup created → file written → file read again → backup deleted

Whoever dies on the way leaves a good file, or a good backup beside a bad one, and the next update puts that right. Deployed
writers also delete the file before they write it, as their storage may show half of it; then only the backup is there. Updates
exclude each other by the lock of the table.
"""

from collections.abc import Iterable, Mapping

from hudi_reference.errors import InterruptedUpdate
from hudi_reference.layout.java_properties import dump, load
from hudi_reference.layout.properties import (
    BACKUP_PATH,
    PROPERTIES_PATH,
    TableProperties,
    check_entries,
    choose_properties,
    read_properties,
    with_checksum,
)
from hudi_reference.locks import Lock, held, new_owner
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage


@implements("S3-005", "PROP-011", "LAY-013")
def update_properties(
    storage: Storage, lock: Lock, changes: Mapping[str, str], deleted: Iterable[str] = (), *, comment: str, owner: str = ""
) -> TableProperties:
    """Set and delete keys; the properties as they are then. `owner` holds the lock already, if one is named.

    Raises Misuse for values that no table may have, MalformedProperties where there is nothing whole to begin with,
    InterruptedUpdate where somebody else wrote meanwhile, LockNotHeld if the lock was lost.
    """
    holder = owner or new_owner("properties")
    with held(lock, holder):
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
            "the file does not hold what was written", rule="S3-005", path=PROPERTIES_PATH,
            remedy="somebody changed it without the lock of the table: see that all writers use one",
        )  # fmt: skip
    storage.delete(BACKUP_PATH)


@implements("S3-005", "PROP-011")
def recover(storage: Storage) -> None:
    """Finish what an interrupted update left: afterwards there is one whole file and no backup.

    A bad file is written anew from a good backup; the backup goes only after that. Raises MalformedProperties where neither is
    good, InterruptedUpdate where the backup alone can be read and may have been cut; then nothing is changed.
    """
    if storage.head(BACKUP_PATH) is None:
        return
    chosen = choose_properties(storage)
    if chosen.path == BACKUP_PATH:
        if not chosen.is_ended:
            raise InterruptedUpdate(
                "the file is bad and its backup may have been cut", rule="S3-005", path=BACKUP_PATH,
                remedy="restore hoodie.properties from another copy of the table",
            )  # fmt: skip
        storage.put(PROPERTIES_PATH, storage.get(BACKUP_PATH))
    storage.delete(BACKUP_PATH)
