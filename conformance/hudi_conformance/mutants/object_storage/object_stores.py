"""Mutants of writes to object stores."""

from typing import Any

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.storage import ObjectExists, ObjectStorage, require_inside_table


def create_by_renaming(storage: Any, path: str, data: bytes) -> None:
    """Write under another name, then copy to the final name unless the object exists."""
    import obstore

    if storage.head(path) is not None:
        raise ObjectExists(path)
    beside = require_inside_table(f"{path}.new")
    obstore.put(storage._store, beside, data)
    obstore.copy(storage._store, beside, require_inside_table(path))
    obstore.delete(storage._store, beside)


@mutant(breaks="S3-001")
def objects_published_by_rename(patch: Patch) -> None:
    """Writes objects under another name and renames them, as on a file system: without rename, by copy and delete."""
    patch.set(ObjectStorage, "create", create_by_renaming)


def create_after_check(storage: ObjectStorage, path: str, data: bytes) -> None:
    """Check for the object, then write."""
    if storage.head(path) is not None:
        raise ObjectExists(path)
    storage.put(path, data)


@mutant(breaks="S3-002")
def create_checks_then_writes(patch: Patch) -> None:
    """A creation checks whether an object exists, and then writes without a condition."""
    patch.set(ObjectStorage, "create", create_after_check)
