"""Mutants: how states are published on an object store, and what a writer makes of an answer that is none."""

from typing import Any

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import properties_update
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.storage import ObjectExists, ObjectStorage, Patience
from hudi_reference.storage.paths import inside
from hudi_reference.timeline.history import history_writer
from hudi_reference.timeline.transitions import Transitions


@mutant(breaks="S3-001")
def one_way_for_all_storages(patch: Patch) -> None:
    """Objects are written under another name and renamed, as on a file system: where there is no rename, by copy and delete."""
    patch.set(ObjectStorage, "create", create_by_renaming)


def create_by_renaming(storage: Any, path: str, data: bytes) -> None:
    """Write beside, copy into place unless somebody is there."""
    import obstore

    if storage.head(path) is not None:
        raise ObjectExists(path)
    beside = inside(f"{path}.new")
    obstore.put(storage._store, beside, data)
    obstore.copy(storage._store, beside, inside(path))
    obstore.delete(storage._store, beside)


@mutant(breaks="S3-001")
def one_try_is_enough(patch: Patch) -> None:
    """A request that is put off once is given up."""
    patch.edit(Patience.tries, "for seconds in self.pauses:", "for seconds in ():")


@mutant(breaks="S3-002")
def look_then_write(patch: Patch) -> None:
    """A creation looks whether somebody is there, and then writes without a condition."""
    patch.set(ObjectStorage, "create", create_after_a_look)


def create_after_a_look(storage: ObjectStorage, path: str, data: bytes) -> None:
    """Look, then write."""
    if storage.head(path) is not None:
        raise ObjectExists(path)
    storage.put(path, data)


@mutant(breaks="S3-002")
def what_is_there_after_a_retry_is_mine(patch: Patch) -> None:
    """Who has sent a creation twice takes the object that he is then refused for for his own."""
    patch.edit(ObjectStorage._conditional, "if found == mark:", "if found == mark or (is_out and version is not None):")


@mutant(breaks="S3-002")
def equal_contents_are_mine(patch: Patch) -> None:
    """Whoever finds his own bytes at the place takes the object for his own."""
    patch.edit(ObjectStorage._conditional, "if found == mark:", "if found == mark or self.get(path) == data:")


@mutant(breaks="S3-002")
def a_clash_is_taken_for_an_object(patch: Patch) -> None:
    """409, which says that two requests met and neither counts, is taken for: there is an object already."""
    patch.edit(ObjectStorage._conditional, "if version != before:", "if version != before or not is_out:")


@mutant(breaks="S3-002")
def a_lost_answer_is_a_lost_race(patch: Patch) -> None:
    """Who finds an object after his answer was lost takes it for another's, also where it is his own."""
    patch.edit(ObjectStorage._conditional, "if found == mark:", "if not is_out and found == mark:")


@mutant(breaks="S3-002")
def stores_are_believed(patch: Patch) -> None:
    """Nobody looks whether the store refuses what does not meet its condition."""
    patch.edit(ObjectStorage._check_fit, "if self._is_fit:", "if True:")


@mutant(breaks="S3-003")
def the_version_file_is_deleted_first(patch: Patch) -> None:
    """The version file of the history is deleted and created again."""
    patch.edit(
        history_writer._publish,
        "storage.replace(version, str(number).encode(), seen.version_file.version)",
        "(storage.delete(version), storage.create(version, str(number).encode()))",
    )


@mutant(breaks="S3-004")
def uploads_are_all_or_nothing(patch: Patch) -> None:
    """A reader takes every damaged block for the fault of a store that lost something, and none for the rest of a crash."""
    patch.edit(LogScanner._file_blocks, "any(block.offset < after and first < block.end for first, after in spans)", "True")


@mutant(breaks="S3-005")
def properties_are_deleted_first(patch: Patch) -> None:
    """A change of the properties deletes the file and writes it anew, without a backup."""
    patch.edit(
        properties_update._replace, 'storage.create(BACKUP_PATH, dump(with_checksum(now), "backup"))',
        "storage.delete(PROPERTIES_PATH)",
    )  # fmt: skip


@mutant(breaks="S3-006")
def states_have_a_name_before_theirs(patch: Patch) -> None:
    """A state is stored under a name of its own first, then copied to its place."""
    patch.edit(
        Transitions._create,
        "self.storage.create(path, content)",
        "(self.storage.put(path + '.new', content), self.storage.create(path, self.storage.get(path + '.new')),"
        " self.storage.delete(path + '.new'))",
    )


@mutant(breaks="S3-006")
def states_are_filled_later(patch: Patch) -> None:
    """A state is created empty, and its content put there afterwards."""
    patch.edit(
        Transitions._create,
        "self.storage.create(path, content)",
        "(self.storage.create(path, b''), self.storage.put(path, content))",
    )


@mutant(breaks="S3-007")
def completions_come_later_than_their_time(patch: Patch) -> None:
    """A completion takes its time under the lock and appears in the store some while after it."""
    patch.edit(
        Transitions.complete,
        "return self._create(Instant(instant.requested, completes_as, State.COMPLETED, time), content, owner)",
        "late = Instant(instant.requested, completes_as, State.COMPLETED, time)\n    return self._create(late, content)",
    )
