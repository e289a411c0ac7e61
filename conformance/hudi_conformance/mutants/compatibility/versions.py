"""Mutants of tables of other versions, and of migrations between versions."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import properties
from hudi_reference.layout.properties import TableProperties
from hudi_reference.legacy import versions
from hudi_reference.services.migration import migrate, timeline
from hudi_reference.timeline.instants import version_6


@mutant(breaks="COMPAT-001")
def version_6_timeline_read_from_new_folder(patch: Patch) -> None:
    """Reads the timeline of a table of version 6 from .hoodie/timeline, finds nothing and reports an empty table."""
    patch.edit(TableProperties.__post_init__, "META_FOLDER if is_legacy else", "META_FOLDER if False else")
    patch.edit(versions.timeline_of, "not properties.is_legacy", "True")


@mutant(breaks="COMPAT-001")
def version_6_logs_assigned_by_completion_time(patch: Patch) -> None:
    """Assigns log files of version 6 to file slices by the rules of version 8."""
    patch.edit(versions.names_its_slice, "is_legacy or instant in compactions", "False")


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


@mutant(breaks="COMPAT-003")
def upgrade_drops_logs_of_pending_compaction(patch: Patch) -> None:
    """Takes a log file that is named after a pending compaction for uncommitted, as Apache Hudi does after an upgrade."""
    patch.edit(versions.names_its_slice, "is_legacy or instant in compactions", "is_legacy")


@mutant(breaks="COMPAT-005")
def version_raised_without_migration(patch: Patch) -> None:
    """Raises the version of a table of version 6 at the first write, without migrating it."""
    patch.edit(
        version_6.check_migrated,
        "check_writable(properties)",
        'storage.put(f"{META_FOLDER}/hoodie.properties", storage.get(f"{META_FOLDER}/hoodie.properties")'
        '.replace(b"hoodie.table.version=6", b"hoodie.table.version=8"))',
    )


@mutant(breaks="COMPAT-006")
def version_6_instants_ignored(patch: Patch) -> None:
    """Writes to a table of version 8 while instants of version 6 are in .hoodie."""
    patch.edit(version_6.check_migrated, "if parse_legacy_name(name) is not None:", "if False:")


@mutant(breaks="COMPAT-006")
def version_changed_before_migration(patch: Patch) -> None:
    """Changes the version before the timeline is migrated; in between the table appears empty."""
    patch.edit(
        migrate._migrate,
        "_store(storage, target, new)",
        '(_switch(storage, entries, version.version, ""), _store(storage, target, new))',
    )


@mutant(breaks="COMPAT-006")
def archived_actions_not_migrated(patch: Patch) -> None:
    """Migrates the active timeline and loses the archived actions."""
    archived = "for a in read_archived_log(storage, properties.history_folder) if"
    patch.edit(timeline.migrated_timeline, archived, "for a in () if")
