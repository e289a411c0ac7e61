"""Mutants of partial updates and of blocks of several attempts."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import reader
from hudi_reference.files.log.block import HeaderKey
from hudi_reference.query import log_scanner, slice_reader
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records.merging import partial_merge
from hudi_reference.write import write_context
from hudi_reference.write.writer import Writer


def _lost(key: HeaderKey) -> str:
    """Source code that returns the header map without one key."""
    return f"return {{k: v for k, v in entries.items() if k != {key.value}}}"


@mutant(breaks="LF-044")
def block_sequence_number_dropped(patch: Patch) -> None:
    """Drops the attempt and sequence number of a block."""
    patch.edit(reader._BlockParser._map, "return entries", _lost(HeaderKey.BLOCK_IDENTIFIER))


@mutant(breaks="LF-044")
def blocks_of_all_attempts_applied(patch: Patch) -> None:
    """Applies the blocks of every attempt of a task."""
    patch.edit(LogScanner.blocks, "of_one_attempt(queue)", "queue")


@mutant(breaks="LF-044")
def newest_attempt_applied(patch: Patch) -> None:
    """Takes the newest attempt, also if it is incomplete."""
    patch.edit(log_scanner.of_one_attempt, "(found[attempt], attempt)", "attempt")


@mutant(breaks="LF-045")
def partial_flag_on_every_block(patch: Patch) -> None:
    """Marks every data block as partial."""
    patch.edit(
        Writer._blocks,
        "writer if partial is None else",
        "replace(writer, partial=True) if partial is None else",
    )


@mutant(breaks="LF-045")
def partial_flag_dropped(patch: Patch) -> None:
    """Drops the header that marks the rows of a block as partial."""
    patch.edit(reader._BlockParser._map, "return entries", _lost(HeaderKey.IS_PARTIAL))


@mutant(breaks=("LF-045", "LF-046"))
def partial_flag_value_ignored(patch: Patch) -> None:
    """Takes a block for partial if the header is present, whatever its value is."""
    patch.edit(slice_reader.partial_columns, '.lower() != "true"', ' == ""')


@mutant(breaks="LF-046")
def partial_update_written_with_nulls(patch: Patch) -> None:
    """Writes the columns that a partial update does not contain as nulls of a whole row."""
    patch.edit(
        write_context.columns_of_update, "frozenset({*META_COLUMNS, *changed})", "frozenset(context.reader.schema.names)"
    )


@mutant(breaks="LF-046")
def partial_update_of_deleted_key_accepted(patch: Patch) -> None:
    """Takes the keys of deleted records for existing in a partial update."""
    from hudi_reference.write import write

    patch.edit(write._locate, "living=is_partial", "living=False")


@mutant(breaks="LF-046")
def partial_rows_read_as_whole(patch: Patch) -> None:
    """Reads the rows of a partial block as whole rows, with null for the columns that they do not contain."""
    patch.edit(SliceReader._changes, "is not None}", "is not None and False}")


@mutant(breaks="LF-046")
def partial_update_ordering_ignored(patch: Patch) -> None:
    """Applies a partial update in event-time mode whatever its ordering value is."""
    patch.edit(partial_merge.merge_partial_blocks, "merging.standard_mode", '"COMMIT_TIME_ORDERING"')


@mutant(breaks="LF-046")
def partial_update_restores_deleted_columns(patch: Patch) -> None:
    """Keeps the columns of a deleted row for the next partial update of its key."""
    patch.edit(partial_merge._fold, "if entry.kind is Kind.ROW else {}", "if entry.kind is Kind.ROW else older.rows")
