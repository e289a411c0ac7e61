"""Mutants of writes to object stores."""

from typing import Any

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import properties_update
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.storage import ObjectExists, ObjectStorage, RetryPolicy, inside
from hudi_reference.timeline.history import history_writer
from hudi_reference.timeline.transitions import Transitions


def create_by_renaming(storage: Any, path: str, data: bytes) -> None:
    """Write under another name, then copy to the final name unless the object exists."""
    import obstore

    if storage.head(path) is not None:
        raise ObjectExists(path)
    beside = inside(f"{path}.new")
    obstore.put(storage._store, beside, data)
    obstore.copy(storage._store, beside, inside(path))
    obstore.delete(storage._store, beside)


@mutant(breaks="S3-001")
def objects_published_by_rename(patch: Patch) -> None:
    """Writes objects under another name and renames them, as on a file system: without rename, by copy and delete."""
    patch.set(ObjectStorage, "create", create_by_renaming)


@mutant(breaks="S3-001")
def throttled_request_not_retried(patch: Patch) -> None:
    """Does not retry a request that was throttled."""
    patch.edit(RetryPolicy.tries, "for seconds in self.pauses:", "for seconds in ():")


def create_after_check(storage: ObjectStorage, path: str, data: bytes) -> None:
    """Check for the object, then write."""
    if storage.head(path) is not None:
        raise ObjectExists(path)
    storage.put(path, data)


@mutant(breaks="S3-002")
def create_checks_then_writes(patch: Patch) -> None:
    """A creation checks whether an object exists, and then writes without a condition."""
    patch.set(ObjectStorage, "create", create_after_check)


@mutant(breaks="S3-002")
def refused_retry_taken_as_own(patch: Patch) -> None:
    """A writer whose repeated creation is refused takes the object for its own."""
    patch.edit(ObjectStorage._conditional, "if found == mark:", "if found == mark or (is_out and version is not None):")


@mutant(breaks="S3-002")
def equal_content_taken_as_own(patch: Patch) -> None:
    """A writer takes an object for its own if it has the same bytes."""
    patch.edit(ObjectStorage._conditional, "if found == mark:", "if found == mark or self.get(path) == data:")


@mutant(breaks="S3-002")
def conflict_409_taken_as_existing(patch: Patch) -> None:
    """Takes status 409, which states that two requests collided and neither has an effect, for an existing object."""
    patch.edit(ObjectStorage._conditional, "if version != before:", "if version != before or not is_out:")


@mutant(breaks="S3-002")
def own_object_taken_as_foreign(patch: Patch) -> None:
    """A writer that finds an object after its answer was lost takes it for that of another writer, also if it is its own."""
    patch.edit(ObjectStorage._conditional, "if found == mark:", "if not is_out and found == mark:")


@mutant(breaks="S3-002")
def conditional_writes_not_probed(patch: Patch) -> None:
    """Does not probe whether the store refuses a request whose condition fails."""
    patch.edit(ObjectStorage._check_fit, "if self._is_fit:", "if True:")


@mutant(breaks=("S3-002", "TL-034"))
def existing_instant_taken_over(patch: Patch) -> None:
    """Continues with an instant that another writer has created in the same millisecond."""
    patch.edit(
        Transitions._create,
        "    except ObjectExists as error:\n",
        "    except ObjectExists as error:\n        return instant\n",
    )


@mutant(breaks="S3-003")
def history_version_object_deleted_first(patch: Patch) -> None:
    """Deletes the version file of the history and creates it again."""
    patch.edit(
        history_writer._publish,
        "storage.replace(version, str(number).encode(), seen.version_file.version)",
        "(storage.delete(version), storage.create(version, str(number).encode()))",
    )


@mutant(breaks="S3-004")
def partial_blocks_always_corrupt(patch: Patch) -> None:
    """Reports every damaged block as a fault of the store, and none as the rest of a crash."""
    patch.edit(LogScanner._file_blocks, "any(block.offset < after and first < block.end for first, after in spans)", "True")


@mutant(breaks="S3-005")
def properties_object_deleted_first(patch: Patch) -> None:
    """A change of the properties deletes the file and writes it again, without a backup."""
    patch.edit(
        properties_update._replace, 'storage.create(BACKUP_PATH, dump(with_checksum(now), "backup"))',
        "storage.delete(PROPERTIES_PATH)",
    )  # fmt: skip


@mutant(breaks="S3-005")
def properties_read_before_lock(patch: Patch) -> None:
    """Reads the properties, then takes the lock to change them: a concurrent change is lost."""
    patch.edit(
        properties_update.update_properties,
        "    with held(lock, holder):\n        recover(storage)\n        now = dict(read_properties(storage).entries)\n",
        "    recover(storage)\n    now = dict(read_properties(storage).entries)\n    with held(lock, holder):\n",
    )


@mutant(breaks="S3-006")
def states_copied_from_other_name(patch: Patch) -> None:
    """Stores a state under another name first, then copies it to its place."""
    patch.edit(
        Transitions._create,
        "self.storage.create(path, content)",
        "(self.storage.put(path + '.new', content), self.storage.create(path, self.storage.get(path + '.new')),"
        " self.storage.delete(path + '.new'))",
    )


@mutant(breaks="S3-006")
def states_created_empty(patch: Patch) -> None:
    """Creates a state empty, and writes its content afterwards."""
    patch.edit(
        Transitions._create,
        "self.storage.create(path, content)",
        "(self.storage.create(path, b''), self.storage.put(path, content))",
    )


@mutant(breaks="S3-007")
def completion_published_after_other_requests(patch: Patch) -> None:
    """Takes the completion time under the lock, and stores the completion a while later."""
    patch.edit(
        Transitions.complete,
        "return self._create(Instant(instant.requested, completes_as, State.COMPLETED, time), content, owner)",
        "late = Instant(instant.requested, completes_as, State.COMPLETED, time)\n    return self._create(late, content)",
    )
