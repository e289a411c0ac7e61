"""Writing: insert, upsert, delete, bulk insert, partial update and insert overwrite, spec "Writer Expectations".

    rows -> keys -> lookup of keys -> data files -> completed instant

New keys create file groups of their own: with a base file, as deployed writers do (their index looks for keys in base files),
or, on merge-on-read, with a log file where `new_keys_in_logs` is set. `writer.py` stores the files, `commit.py` publishes them.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

import pyarrow as pa

from hudi_reference.errors import ConcurrentChange, Misuse, UnsupportedTableFeature
from hudi_reference.query.file_groups import FileGroups, FileSlice
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import with_meta_columns
from hudi_reference.settings import boolean_setting
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import INSERT_OVERWRITE, INSERT_OVERWRITE_TABLE, ids_by_partition
from hudi_reference.write.column_ids import version_entry
from hudi_reference.write.commit import Commit, begin
from hudi_reference.write.concurrency.config import BucketEngine, Concurrency, Mode, Policy
from hudi_reference.write.concurrency.conflict_resolution import apply_update_strategy
from hudi_reference.write.generated_keys import check_known, with_generated_keys
from hudi_reference.write.placement.bucket_layout import check_one_number, check_placement
from hudi_reference.write.placement.consistent_buckets import ConsistentLookup
from hudi_reference.write.placement.global_index import GlobalLookup
from hudi_reference.write.placement.locate import BucketLookup, Located, check_clustered, locate
from hudi_reference.write.placement.rows import Incoming, merge_duplicates
from hudi_reference.write.preconditions import check_writable
from hudi_reference.write.write_context import (
    DEFAULTS,
    PARTIAL_UPDATE,
    LogOptions,
    WriteContext,
    columns_of_update,
    log_options,
    logging_mode,
)
from hudi_reference.write.writer import Writer, rows_per_file

#: Whether updates move to new file groups. Deployed writers do this for records that change their partition; the name of the
#: setting is ours.
MOVES_KEY = "hoodie.write.update.as.delete.and.insert"
#: Operations that do not look keys up.
_WITHOUT_LOOKUP = ("INSERT", "BULK_INSERT", INSERT_OVERWRITE, INSERT_OVERWRITE_TABLE)


@implements("TYP-001", "TL-045", "OCC-007")
def write(
    table: Table,
    operation: str,
    rows: pa.Table,
    *,
    new_keys_in_logs: bool = False,
    logs: LogOptions = DEFAULTS,
    base: Timeline | None = None,
) -> str:
    """One write as one action.

    Args:
        table: the table with the settings and hooks of the writer.
        operation: INSERT, BULK_INSERT, UPSERT, DELETE, PARTIAL_UPDATE, INSERT_OVERWRITE or INSERT_OVERWRITE_TABLE.
        rows: the rows; for DELETE the key and partition columns.
        new_keys_in_logs: whether new keys of a merge-on-read table go to log files.
        logs: how log files are stored.
        base: the timeline of the table from which the rows were computed; None if they do not depend on it.

    Returns:
        The requested time of the instant.

    Raises:
        InvalidRows: the rows do not fit the table. Nothing was written.
        UnsupportedTableFeature: the table needs more than this writer supports.
        InstantExists, WriteConflict: another writer conflicts with this one. After a ConcurrentChange the write is repeated as
            often as its settings say; each attempt is an action of its own, based on the state of the table at its begin.
    """
    options = log_options(table, logs)
    return run_with_retries(
        table,
        lambda: _write_once(table, operation, rows, new_keys_in_logs, options, base),
        lambda: _prepare_rows(table, operation, rows),
    )


def _prepare_rows(table: Table, operation: str, rows: pa.Table) -> tuple[WriteContext, frozenset[str] | None, Incoming]:
    """The context of a write, the columns of a partial update, and the rows with keys. Raises InvalidRows, Misuse."""
    context = WriteContext.for_operation(table, operation, rows.schema)
    columns = columns_of_update(context, rows.column_names) if operation == PARTIAL_UPDATE else None
    uses_buckets = operation != PARTIAL_UPDATE and Concurrency.from_options(table.options).index is not None
    if uses_buckets or operation not in ("DELETE", PARTIAL_UPDATE):  # these create no file groups
        check_placement(table, context.view.groups)
    incoming = context.intake(columns).prepare(rows)
    if not table.properties.record_key:
        incoming = with_generated_keys(table.properties, operation, incoming)
    return context, columns, incoming


@implements("OCC-001")
def check_unchanged_since(base: Timeline | None, now: Timeline) -> None:
    """Raises ConcurrentChange if a write completed after the timeline `base`, from which the rows of a write were computed."""
    if base is not None and base.commits != now.commits:
        raise ConcurrentChange("another write completed since the rows were read", rule="OCC-001",
                               remedy="run the statement again")  # fmt: skip


def _write_once(
    table: Table, operation: str, rows: pa.Table, new_keys_in_logs: bool, logs: LogOptions, base: Timeline | None
) -> str:
    """One attempt: prepare the rows, look their keys up, store the data files, and complete the action."""
    context, columns, incoming = _prepare_rows(table, operation, rows)
    check_unchanged_since(base, context.view.timeline)
    replaced = replaced_slices(context.view.groups, operation, incoming.partitions)
    buckets = None if operation == PARTIAL_UPDATE else buckets_of(table)
    located = _locate(table, operation, context, incoming, replaced, buckets)
    if not table.properties.record_key and operation == "UPSERT":
        check_known(located)
    located = _divide_changes(located, operation, moves=operation == "UPSERT" and moves_updates(table))
    named = "UPSERT" if operation == PARTIAL_UPDATE else operation
    commit = begin_write(table, named, context.view.timeline, [found for found, _, _ in located.changes()], replaced)
    if isinstance(buckets, ConsistentLookup) and operation != "DELETE":
        buckets.store_new()
    schema = with_meta_columns(context.view.schema)
    writer = Writer(commit, context.reader, schema, logs=logs, partial_columns=columns)
    _store_changes(writer, located)
    for partition, new in located.new:
        writer.add(partition, new, in_logs=new_keys_in_logs)
    return commit.complete(context.view.schema, version_entry(context.view, table.properties, commit.requested))


@implements("TL-039")
def replaced_slices(groups: FileGroups, operation: str, partitions: Collection[str]) -> Sequence[FileSlice] | None:
    """The slices that an operation replaces: those of the partitions of its rows, or all; None for other operations."""
    if operation == INSERT_OVERWRITE:
        return groups.slices_in(partitions)
    return groups.latest_slices if operation == INSERT_OVERWRITE_TABLE else None


@implements("OCC-020", "PROP-001")
def run_with_retries(table: Table, attempt: Callable[[], str], check: Callable[[], object] | None = None) -> str:
    """Run the hooks that come before a write, then attempt the write, again after each ConcurrentChange as the settings say.

    These hooks delete files. So a table that cannot be written here, and invalid settings, are refused first; so are invalid
    rows, for which `check` raises an error. Raises UnsupportedTableFeature, Misuse.
    """
    check_write(table)
    concurrency = Concurrency.from_options(table.options)
    if check is not None and concurrency.policy is Policy.EAGER:  # other policies roll nothing back before a write
        check()
    for hook in table.hooks.before_write:
        hook(table)
    for _ in range(concurrency.retries):
        with suppress(ConcurrentChange):
            return attempt()
    return attempt()


@implements("OCC-020", "PROP-001")
def check_write(table: Table) -> None:
    """Check, before a write, the table and all settings on which the write and the services that follow it depend.

    Raises UnsupportedTableFeature, Misuse, InvalidProperty.
    """
    check_writable(table)
    for check in table.hooks.check_settings:
        check(table.properties, table.options)
    Concurrency.from_options(table.options).check(table.properties)
    rows_per_file(table.options)
    logging_mode(table.properties)
    moves_updates(table)


def _locate(
    table: Table,
    operation: str,
    context: WriteContext,
    incoming: Incoming,
    replaced: Sequence[FileSlice] | None,
    buckets: BucketLookup | ConsistentLookup | None,
) -> Located:
    """Where the rows go: to the file groups that hold their keys or, for operations without a lookup, to new ones."""
    is_partial = operation == PARTIAL_UPDATE
    if buckets is not None:
        located = buckets.locate(merge_duplicates(incoming, context.reader.merging), context.view, replaced or ())
        if replaced is None:
            check_clustered(buckets, located, context.view.groups, context.reader)
        return located
    # ER-058: insert and bulk insert append without a lookup, as deployed.
    if operation in _WITHOUT_LOOKUP:
        return Located((), list(incoming.by_partition()))
    if (lookup := GlobalLookup.for_write(table, context.view, context.reader, context.properties)) is not None:
        combined = merge_duplicates(incoming, context.reader.merging, whole_table=True)
        return lookup.locate(combined, only_change=is_partial or operation == "DELETE")
    return locate(merge_duplicates(incoming, context.reader.merging), context.view, context.reader, living=is_partial)


def buckets_of(table: Table) -> BucketLookup | ConsistentLookup | None:
    """The bucket index in the settings of the table's writers; None if there is none. Raises as `check_one_number` does."""
    settings = Concurrency.from_options(table.options)
    if (index := settings.index) is None:
        return None
    check_one_number(table)
    fields = index.fields or tuple(table.properties.record_key)
    if index.engine is BucketEngine.CONSISTENT:
        return ConsistentLookup(table, index.buckets, fields)
    return BucketLookup(index.buckets, fields, settings.mode is Mode.NON_BLOCKING, table.ids)


def _divide_changes(located: Located, operation: str, *, moves: bool) -> Located:
    """What an operation stores: updates that move are deletes and inserts, and a partial update inserts nothing."""
    if operation == "DELETE":
        return located.as_deletes()
    if operation == PARTIAL_UPDATE:
        return replace(located, new=())
    return located.as_moves() if moves else located


def _store_changes(writer: Writer, located: Located) -> None:
    """Store the changes of the file groups that hold the keys."""
    for file_slice, changes, removed in located.changes():
        if file_slice.base_instant:
            writer.change(file_slice, changes, removed)
        elif changes.num_rows:  # a bucket without a file group: this write creates it
            writer.create_group(replace(file_slice, base_instant=writer.commit.requested), changes)


def begin_write(
    table: Table, operation: str, base: Timeline, changed: Iterable[FileSlice], replaced: Sequence[FileSlice] | None = None
) -> Commit:
    """Begin a write, unless a clustering is planned for slices that it changes, or whose groups it replaces."""
    apply_update_strategy(table, base, [*changed, *(replaced or ())])
    commit = begin(table, operation, base)
    if replaced is not None:
        commit.replaced = ids_by_partition(file_slice.group for file_slice in replaced)
    return commit


@implements("OCC-009")
def moves_updates(table: Table) -> bool:
    """Whether an update is stored as a delete in its file group and an insert into a new one.

    Raises UnsupportedTableFeature for tables where the old version of a record would still take part in merging: merge-on-read
    tables, whose log files keep it, and tables in event-time order, where the greater ordering value is kept.
    """
    if not boolean_setting(table.options, MOVES_KEY):
        return False
    properties = table.properties
    if Concurrency.from_options(table.options).index is not None:
        raise Misuse("updates stay in their buckets", rule="LAY-021", found=f"{MOVES_KEY}=true", remedy="leave the setting out")
    if properties.is_merge_on_read or properties.merging.mode != "COMMIT_TIME_ORDERING":
        raise UnsupportedTableFeature(
            "updates are moved on copy-on-write tables in commit-time order only", rule="OCC-009", found=f"{MOVES_KEY}=true",
            remedy="leave the setting out",
        )  # fmt: skip
    return True
