"""Mutants of tables of other versions, and of migrations between versions."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import properties
from hudi_reference.layout.properties import TableProperties
from hudi_reference.legacy import versions
from hudi_reference.services.migration import timeline


@mutant(breaks="COMPAT-001")
def version_6_timeline_read_from_new_folder(patch: Patch) -> None:
    """Reads the timeline of a table of version 6 from .hoodie/timeline, finds nothing and reports an empty table."""
    patch.edit(TableProperties.__post_init__, "META_FOLDER if is_legacy else", "META_FOLDER if False else")
    patch.edit(versions.timeline_of, "not properties.is_legacy", "True")


class AnyVersion(dict[int, int]):
    """Takes every number for a version whose timeline has layout 2."""

    def __contains__(self, version: object) -> bool:
        return True

    def __missing__(self, version: int) -> int:
        return 2


@mutant(breaks=("COMPAT-002", "COMPAT-004"))
def unknown_table_versions_accepted(patch: Patch) -> None:
    """Reads tables of versions that it does not know."""
    patch.set(properties, "LAYOUTS", AnyVersion({6: 1, 8: 2}))


@mutant(breaks="COMPAT-003")
def version_8_only(patch: Patch) -> None:
    """Reads tables of version 8 only."""
    patch.set(properties, "LAYOUTS", {8: 2})


@mutant(breaks="COMPAT-006")
def archived_actions_not_migrated(patch: Patch) -> None:
    """Migrates the active timeline and loses the archived actions."""
    archived = "for a in read_archived_log(storage, properties.history_folder) if"
    patch.edit(timeline.migrate_timeline, archived, "for a in () if")
