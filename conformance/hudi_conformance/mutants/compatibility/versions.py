"""Mutants in dealing with tables of other versions, and in migrations between them."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import properties
from hudi_reference.layout.properties import TableProperties
from hudi_reference.legacy import versions
from hudi_reference.query import file_groups
from hudi_reference.services.migration import migrate, timeline
from hudi_reference.timeline.instants import version_6


@mutant(breaks="COMPAT-001")
def old_timeline_looked_for_in_the_new_folder(patch: Patch) -> None:
    """Looks for the timeline of a table of version 6 in .hoodie/timeline, finds nothing and reports an empty table."""
    patch.edit(TableProperties.timeline_folder, "META_FOLDER if self.is_legacy else", "META_FOLDER if False else")
    patch.edit(versions.timeline_of, "not properties.is_legacy", "True")


@mutant(breaks="COMPAT-001")
def old_logs_sliced_by_completion_times(patch: Patch) -> None:
    """Puts log files of version 6 into slices by the rules of version 8."""
    patch.edit(file_groups._slices, "by_name or parsed.instant in compactions", "False")


@mutant(breaks="COMPAT-003")
def only_its_own_version(patch: Patch) -> None:
    """Reads tables of version 8 and no others."""
    patch.set(properties, "LAYOUTS", {8: 2})


@mutant(breaks="COMPAT-003")
def logs_of_a_pending_compaction_lost_in_an_upgrade(patch: Patch) -> None:
    """Takes a log file that is named after a pending compaction for uncommitted, as Apache Hudi does after an upgrade."""
    patch.edit(file_groups._slices, "by_name or parsed.instant in compactions", "by_name")


@mutant(breaks="COMPAT-005")
def version_raised_at_first_contact(patch: Patch) -> None:
    """Raises the version of a table of version 6 when it is asked to write, without migrating it."""
    patch.edit(
        version_6.check_migrated,
        "check_writable(properties)",
        'storage.put(f"{META_FOLDER}/hoodie.properties", storage.get(f"{META_FOLDER}/hoodie.properties")'
        '.replace(b"hoodie.table.version=6", b"hoodie.table.version=8"))',
    )


@mutant(breaks="COMPAT-006")
def old_instants_left_and_ignored(patch: Patch) -> None:
    """Writes to a table of version 8 while instants of version 6 lie in .hoodie."""
    patch.edit(version_6.check_migrated, "if parse_legacy_name(name) is not None:", "if False:")


@mutant(breaks="COMPAT-006")
def version_switched_first(patch: Patch) -> None:
    """Changes the version before the timeline is migrated: in between the table seems empty."""
    patch.edit(
        migrate._migrate,
        "_store(storage, target, new)",
        '(_switch(storage, entries, version.version, ""), _store(storage, target, new))',
    )


@mutant(breaks="COMPAT-006")
def archived_actions_not_migrated(patch: Patch) -> None:
    """Migrates the active timeline and forgets what was archived."""
    archived = "for a in read_archived_log(storage, properties.history_folder) if"
    patch.edit(timeline.migrated_timeline, archived, "for a in () if")
