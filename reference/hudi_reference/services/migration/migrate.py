"""Migration of a table to another version: from 6 to 8, from 8 to 9, and from 9 to 8."""

from dataclasses import replace

from hudi_reference.clock import Clock, SystemClock
from hudi_reference.errors import Misuse, TableNotFound
from hudi_reference.ids import Ids, RandomIds
from hudi_reference.layout.properties import NEWEST_VERSION, TABLE_VERSION, TableProperties, read_properties
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.default_hooks import STANDARD_HOOKS
from hudi_reference.services.migration.changes import Migration
from hudi_reference.services.migration.version_6 import finish_version_6, migrate_from_version_6
from hudi_reference.services.migration.version_6_properties import migrate_properties
from hudi_reference.services.migration.version_9 import converted_entries, execute_change, plan_change
from hudi_reference.storage import Storage, storage_of
from hudi_reference.storage.uris import canonical_uri, no_table

#: The versions to which tables are migrated.
TARGETS = (TABLE_VERSION, NEWEST_VERSION)


@implements("COMPAT-005", "COMPAT-006", "COMPAT-008", "COMPAT-009", "COMPAT-010")
def migrate(
    uri: str,
    *,
    version: int | None = None,
    dry_run: bool = False,
    storage: Storage | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> Migration:
    """Migrate the table at `uri` to another version, or complete an earlier, interrupted migration to it.

    Everything is checked before the first change.

    Args:
        uri: the base path of the table.
        version: 8 or 9. None makes a table of version 6 one of version 8, and leaves others at their version.
        dry_run: return the changes only, and change nothing.
        storage: None is the storage that the URI names.
        clock: None is the clock of this machine.
        ids: the source of ids; None draws random ones.

    Returns:
        The changes.

    Raises:
        TableNotFound: there is no table.
        Misuse: tables are not migrated to that version.
        MigrationRefused: the table has pending actions, or features that are not migrated; nothing was changed.
        TableChanged: a writer changed the table during the migration.
        MalformedTable: the table is damaged.
    """
    if version is not None and version not in TARGETS:
        raise Misuse("tables are not migrated to this version", rule="COMPAT-002", found=str(version),
                     expected=" or ".join(map(str, TARGETS)))  # fmt: skip
    store = storage_of(uri) if storage is None else storage
    try:
        properties = read_properties(store)
    except TableNotFound as error:
        raise (error if storage is not None else no_table(uri)) from None
    base = canonical_uri(uri) if storage is None else uri
    table = Table(store, clock or SystemClock(), ids or RandomIds(), properties, base, hooks=STANDARD_HOOKS)
    target = version or max(TABLE_VERSION, properties.version)
    if properties.is_legacy:
        return _from_version_6(table, target, dry_run=dry_run)
    plan = plan_change(table, target)
    rest = finish_version_6(table, dry_run=dry_run) if properties.version == TABLE_VERSION else Migration()
    if not dry_run:
        execute_change(table, plan, target)
    return replace(plan, removed=rest.removed, compacted=plan.compacted or rest.compacted)


def _from_version_6(table: Table, target: int, *, dry_run: bool) -> Migration:
    entries = converted_entries(table, TableProperties(migrate_properties(table.properties)), target)
    done = migrate_from_version_6(table, dry_run=dry_run).with_properties(table.properties.entries, entries)
    if not dry_run and target != TABLE_VERSION:
        after = replace(table, properties=read_properties(table.storage))
        execute_change(after, plan_change(after, target), target)
    return done
