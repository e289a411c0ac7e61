"""Creation and atomic updates of the table properties, spec "Table Properties": a reader sees all of an update or nothing.

    backup created → file written → file read again → backup deleted

A crash leaves a valid file, or a valid backup next to an invalid file, and the next update repairs that. Deployed writers
also delete the file before they write it, because their storage may show a partial file; then only the backup exists. Updates
run under the lock of the table.
"""

from collections.abc import Iterable, Mapping

from hudi_reference.errors import InterruptedUpdate, Misuse
from hudi_reference.layout.java_properties import dump, load
from hudi_reference.layout.properties import (
    BACKUP_PATH,
    PROPERTIES_PATH,
    TableProperties,
    checksum,
    read_properties,
)
from hudi_reference.layout.property_table import BY_KEY, MANDATORY
from hudi_reference.locks import Lock, hold_lock, new_owner
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage


@implements("LAY-013", "PROP-003", "PROP-004", "PROP-011")
def write_properties(storage: Storage, entries: Mapping[str, str], comment: str) -> TableProperties:
    """Create the file with its checksum; values are stored in the letters that every reader knows.

    Raises Misuse for invalid entries, ObjectExists if the file exists.
    """
    check_entries(entries)
    allowed = {key: BY_KEY[key].allowed(value) for key, value in entries.items() if key in BY_KEY}
    complete = with_checksum({key: allowed.get(key) or value for key, value in entries.items()})
    storage.create(PROPERTIES_PATH, dump(complete, comment))
    return TableProperties(complete)


def with_checksum(entries: Mapping[str, str]) -> dict[str, str]:
    """The entries with the checksum of the table's names."""
    names = entries.get("hoodie.database.name", ""), entries["hoodie.table.name"]
    return {**entries, "hoodie.table.checksum": checksum(*names)}


@implements("PROP-002", "PROP-004", "PROP-005", "PROP-006", "PROP-010")
def check_entries(entries: Mapping[str, str]) -> None:
    """Raises Misuse unless every mandatory key has a value and all values are allowed."""
    for key in MANDATORY:
        if not entries.get(key):
            raise Misuse(f"the setting {key} has no default and is missing", rule="PROP-002", expected=f"a value for {key}")
    for key, value in entries.items():
        known = BY_KEY.get(key)
        if known is None:
            continue
        if value and known.allowed(value) is None:
            expected = " or ".join(known.values or ())
            raise Misuse(f"{key} has an unknown value", rule=known.rule, expected=expected, found=repr(value))
        if known.version > int(entries["hoodie.table.version"]):
            raise Misuse(
                f"{key} needs a later table version", rule="COMPAT-002", expected=f"table version {known.version}",
                found=f"table version {entries['hoodie.table.version']}",
            )  # fmt: skip


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
