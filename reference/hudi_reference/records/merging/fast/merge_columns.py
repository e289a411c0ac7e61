"""Merging whole columns with numpy: the fast twin of `merge_slice.select`, with the same result.

The winner of a key is chosen among its candidates: the log entries after its last delete by key. Deletes that directly follow
that delete by key are no candidates, because there is no row that they could delete. With event-time ordering the winner is
the candidate with the greatest ordering value, the last one of equals; with commit-time ordering it is the last candidate.
Because ordering values are totally ordered, this is the result of merging the versions one by one by the decision tables.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.records.changes import KEY, Changes, DeleteMarker, delete_flags, keys_of
from hudi_reference.records.merge import stored_values
from hudi_reference.records.mergers.merger import Merging

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def select_by_columns(base: pa.Table, changes: Changes, merging: Merging) -> tuple[pa.Array, pa.Array] | None:
    """Which base rows are kept and which rows of the changes win, as `merge_slice.select`; for at most one ordering field.

    None for ordering values other than integers and texts, which the plain code compares.
    """
    ordering = merging.ordering
    by_ordering = merging.standard_mode == "EVENT_TIME_ORDERING"
    base_code, code, count = _number_keys(base, changes)
    ranks = (
        _ranks(base, changes, ordering[0])
        if by_ordering
        else (np.zeros(base.num_rows, np.int64), np.zeros(len(code), np.int64))
    )
    if ranks is None:
        return None
    base_rank, rank = ranks
    key_deletes = _key_deletes(changes)
    rank = np.where(key_deletes, np.iinfo(np.int64).min, rank)
    is_candidate, erased = _after_last_key_delete(code, key_deletes, count)
    positions = _positions(changes, merging.marker)
    if by_ordering:
        is_candidate &= ~_deletes_without_row(code, positions >= 0, is_candidate & ~key_deletes, erased)
    winner = _greatest(code, rank, is_candidate, count)
    wins = _replaces_base(base_code, base_rank, winner, rank, erased, by_ordering)
    new = winner >= 0
    new[base_code] = False
    won = positions[np.concatenate([winner[base_code[wins]], winner[new]])]
    return pa.array(np.flatnonzero(~wins)), pa.array(won[won >= 0])


def _number_keys(base: pa.Table, changes: Changes) -> tuple[Integers, Integers, int]:
    """A number for each key: those of the base rows, those of the log entries, and how many numbers there are.

    The last number is that of base rows that no log entry changes.
    """
    if changes.record_positions is not None:
        places = np.concatenate([np.asarray(found, np.int64) for found in changes.record_positions])
        return np.arange(base.num_rows), places, base.num_rows + 1
    keys = pa.chunked_array([keys_of(batch) for batch in changes.batches], pa.string()).combine_chunks()
    codes = keys.dictionary_encode()
    of_base = pc.index_in(base.column(KEY), value_set=codes.dictionary)
    none = len(codes.dictionary)
    of_base = pc.fill_null(of_base, none).to_numpy().astype(np.int64)
    rows, first = np.arange(base.num_rows), np.zeros(none + 1, np.int64)
    first[of_base[::-1]] = rows[::-1]  # the last of several assignments, that of the first row, is kept
    of_base[first[of_base] != rows] = none
    return of_base, codes.indices.to_numpy().astype(np.int64), none + 1


def _key_deletes(changes: Changes) -> Flags:
    """Which log entries are deletes by key, without an ordering value."""
    """Which log entries are deletes by key, without an ordering value."""
    flags = [
        np.zeros(batch.num_rows, np.bool_)
        if isinstance(batch, pa.Table)
        else np.array([delete.ordering is None for delete in batch], np.bool_)
        for batch in changes.batches
    ]
    return np.concatenate(flags)


def _positions(changes: Changes, marker: DeleteMarker | None) -> Integers:
    """For each log entry the position of its row in `changes.rows`; -1 for deletes, also if they are stored as rows."""
    parts: list[Integers] = []
    height = 0
    for batch in changes.batches:
        if not isinstance(batch, pa.Table):
            parts.append(np.full(len(batch), -1, np.int64))
            continue
        positions = np.arange(height, height + batch.num_rows)
        flags = delete_flags(batch, marker)
        if flags is not None:
            positions = np.where(flags.to_numpy(), -1, positions)
        parts.append(positions)
        height += batch.num_rows
    return np.concatenate(parts)


def _ranks(base: pa.Table, changes: Changes, field: str) -> tuple[Integers, Integers] | None:
    """Ordering values of base rows and log entries as integers with the same order; None for other types of values."""
    columns = [stored_values(base, field)]
    kind = columns[0].type
    if not (pt.is_integer(kind) or pt.is_string(kind)):
        return None
    for batch in changes.batches:
        if isinstance(batch, pa.Table):
            columns.append(stored_values(batch, field))
            continue
        try:
            columns.append(pa.chunked_array([pa.array([delete.ordering for delete in batch], kind)]))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return None
    if any(column.type != kind for column in columns):
        return None
    values = pa.chunked_array([chunk for column in columns for chunk in column.chunks], kind)
    if pt.is_integer(kind):
        ranks = pc.fill_null(values, 0).to_numpy().astype(np.int64)
    else:
        ranks = pc.rank(values, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
        ranks[values.is_null().to_numpy()] = 0  # a null orders before every text
    return ranks[: base.num_rows], ranks[base.num_rows :]


def _after_last_key_delete(code: Integers, key_deletes: Flags, keys: int) -> tuple[Flags, Flags]:
    """Which log entries do not come before a delete by key of their key, and which keys have a delete by key."""
    last = np.full(keys, -1, np.int64)
    entries = np.flatnonzero(key_deletes)
    last[code[entries]] = entries  # the last of several assignments is kept
    return np.arange(len(code)) >= last[code], last >= 0


def _deletes_without_row(code: Integers, is_row: Flags, later: Flags, erased: Flags) -> Flags:
    """Which log entries are deletes between the last delete by key of their key and the first row after it."""
    first_row = np.full(len(erased), len(code), np.int64)
    rows = np.flatnonzero(later & is_row)[::-1]
    first_row[code[rows]] = rows  # the last of several assignments, that of the first row, is kept
    without_row: Flags = later & ~is_row & erased[code] & (np.arange(len(code)) < first_row[code])
    return without_row


def _greatest(code: Integers, rank: Integers, is_candidate: Flags, keys: int) -> Integers:
    """For each key its candidate with the greatest rank, the last one of equals; -1 without candidates.

    A delete by key has the lowest rank: every candidate after it wins over it.
    """
    entries = np.flatnonzero(is_candidate)
    order = entries[np.argsort(rank[entries], kind="stable")]
    winner = np.full(keys, -1, np.int64)
    winner[code[order]] = order  # the last of several assignments is kept
    return winner


def _replaces_base(
    base_code: Integers, base_rank: Integers, winner: Integers, rank: Integers, erased: Flags, by_ordering: bool
) -> Flags:
    """Which base rows lose against the winner among the log entries of their key."""
    wins: Flags = winner[base_code] >= 0
    if by_ordering:
        rows = np.flatnonzero(wins)
        found = base_code[rows]
        wins[rows] = erased[found] | (rank[winner[found]] >= base_rank[rows])
    return wins
