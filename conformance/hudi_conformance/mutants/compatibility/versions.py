"""Mutants of tables of other versions, and of migrations between versions."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import properties
from hudi_reference.layout.properties import TableProperties
from hudi_reference.legacy import archived_log
from hudi_reference.query import table
from hudi_reference.services.migration import version_6_timeline, version_9, version_9_properties
from hudi_reference.timeline.instants import version_6


@mutant(breaks="COMPAT-001")
def version_6_timeline_read_from_new_folder(patch: Patch) -> None:
    """Reads the timeline of a table of version 6 from .hoodie/timeline, finds nothing and reports an empty table."""
    patch.edit(TableProperties.__post_init__, "META_FOLDER if is_legacy else", "META_FOLDER if False else")
    patch.edit(table.timeline_of, "if properties.is_legacy", "if False")


class AnyVersion(dict[int, int]):
    """Takes every number for a version whose timeline has layout 2."""

    def __contains__(self, version: object) -> bool:
        return True

    def __missing__(self, version: int) -> int:
        return 2


@mutant(breaks=("COMPAT-002", "COMPAT-004"))
def unknown_table_versions_accepted(patch: Patch) -> None:
    """Reads tables of versions that it does not know."""
    patch.set(properties, "LAYOUTS", AnyVersion({6: 1, 8: 2, 9: 2}))


@mutant(breaks="COMPAT-003")
def version_8_only(patch: Patch) -> None:
    """Does not read tables of version 6."""
    patch.set(properties, "LAYOUTS", {8: 2, 9: 2})


@mutant(breaks="COMPAT-006")
def archived_actions_not_migrated(patch: Patch) -> None:
    """Migrates the active timeline and loses the archived actions."""
    archived = "for a in read_archived_log(storage, properties.history_folder) if"
    patch.edit(version_6_timeline.migrate_timeline, archived, "for a in () if")


@mutant(breaks=("COMPAT-006", "LSM-020"))
def archived_services_lose_their_metadata(patch: Patch) -> None:
    """Migrates the metadata of archived commits and cleans only, not of actions that tables have less often."""
    for action in ("replacecommit", "rollback", "savepoint", "indexing"):
        patch.item(archived_log._METADATA, action, "")


@mutant(breaks=("COMPAT-006", "LSM-020"))
def archived_log_compactions_lose_their_plans(patch: Patch) -> None:
    """Migrates the plans of archived compactions and cleans only."""
    patch.set(archived_log, "_PLANS", {**archived_log._PLANS, "logcompaction": ()})


@mutant(breaks=("COMPAT-006", "LSM-020"))
def archived_replacements_lose_their_plans(patch: Patch) -> None:
    """Migrates the plans of archived replacements only if they are of a clustering."""
    plans = archived_log._PLANS["replacecommit"]
    patch.set(archived_log, "_PLANS", {**archived_log._PLANS, "replacecommit": plans[:1]})


@mutant(breaks="COMPAT-008")
def upgrade_by_payload_class(patch: Patch) -> None:
    """Stores the merge mode of the payload class where the strategy id decided before."""
    by_all = "stored_merging(found.mode, found.strategy, found.payload,"
    patch.edit(version_9_properties.upgraded_entries, by_all, "stored_merging(None, None, found.payload,")


@mutant(breaks=("COMPAT-008", "MRG-051"))
def delete_marker_lost_in_upgrade(patch: Patch) -> None:
    """Forgets the delete marker of the table in an upgrade, as Apache Hudi 1.2.0 does if the writer does not name it."""
    patch.edit(version_9_properties.upgraded_entries, "DELETE_FIELD: marker[0], DELETE_MARKER: marker[1], ", "")


@mutant(breaks=("COMPAT-008", "IDX-022"))
def definitions_without_version(patch: Patch) -> None:
    """Leaves definitions of indexes without a version, so that statistics of a table of version 9 count as V2."""
    patch.edit(version_9._Change._define_indexes, "if self.plan.defined_indexes", "if False")


@mutant(breaks="COMPAT-009")
def metadata_table_first(patch: Patch) -> None:
    """Upgrades the metadata table before its table, so that readers of version 8 refuse it after a crash."""
    order = "steps if self.version == NEWEST_VERSION else reversed(steps)"
    patch.edit(version_9._Change.run, order, "reversed(steps) if self.version == NEWEST_VERSION else steps")


@mutant(breaks=("COMPAT-009", "META-013"))
def keys_of_another_form_upgraded(patch: Patch) -> None:
    """Changes the version of a table whose keys writers of the new version do not find again: they write duplicates."""
    patch.edit(version_9.converted_entries, "_check_keys(table, TableProperties(entries))", "pass")


@mutant(breaks="COMPAT-010")
def later_indexes_kept(patch: Patch) -> None:
    """Keeps indexes of V2 in a downgrade, which version 8 searches in the wrong file groups."""
    patch.edit(version_9._unknown_indexes, "!= V1", "is None")


@mutant(breaks="COMPAT-010")
def any_class_after_downgrade(patch: Patch) -> None:
    """Stores a payload class in a downgrade that merges by other rules than the table."""
    patch.edit(version_9_properties._payload_of, "and _merges_as(one, properties, given)", "")


@mutant(breaks=("COMPAT-006", "TL-004"))
def migrated_action_completes_at_the_time_of_its_file(patch: Patch) -> None:
    """A migration takes the modification time of a file for the completion time, also if it is before the request."""
    patch.edit(version_6.completion_of, "max(format_time(file.modified, zone), just_after(requested))",
               "format_time(file.modified, zone)")  # fmt: skip
    patch.edit(version_6_timeline.completion_times, "if time <= instant.requested or (", "if (")
