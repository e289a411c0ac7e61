"""Blocks with only some columns: results by hand, results of a dictionary, and blocks with all columns."""

import itertools
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from merge_samples import COMMIT, EVENT, merges
from partial_update_samples import SCHEMA, Batch, Row, histories, rows, whole
from reference_samples import bounded

from hudi_reference.files.log.content import Delete
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.records.changes import IS_DELETED, KEY, Changes
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.merging.merge_slice import merge_changes, select
from hudi_reference.records.merging.partial_merge import merge_partial_blocks


def merged(base: Sequence[Row], batches: Sequence[Batch], mode: MergeMode, ordering: tuple[str, ...] = ("ts",)) -> list[Row]:
    """The merged rows, in the order of their keys."""
    contents = [found if found and isinstance(found[0], Delete) else rows(*found) for _, found in batches]
    held = {number: frozenset((KEY, *names)) for number, (names, _) in enumerate(batches) if names is not None}
    left = merge_changes(rows(*base), Changes(contents, SCHEMA, held), Merging(mode, ordering)).to_pylist()
    return sorted(left, key=lambda row: str(row[KEY]))


def partial(**columns: Any) -> Batch:
    """A partial row of the one key."""
    return tuple(columns), [{KEY: "k", **columns}]


GONE: Batch = (None, [Delete("k", "", None)])
FULL_6: Batch = (None, [whole(6, "F", "F")])


@pytest.mark.parametrize(
    ("mode", "batches", "left"),
    [
        (EVENT, [partial(ts=6, a="new")], whole(6, "new", "B")),
        (EVENT, [partial(ts=5, a="new")], whole(5, "new", "B")),
        (EVENT, [partial(ts=4, a="late")], whole(5, "A", "B")),
        (EVENT, [partial(ts=6, a=None)], whole(6, None, "B")),
        (EVENT, [partial(ts=6, a="x"), partial(ts=7, b="y")], whole(7, "x", "y")),
        (EVENT, [partial(ts=7, a="x"), partial(ts=6, b="y")], whole(7, "x", "B")),
        (EVENT, [partial(ts=6, a="x"), (None, [whole(7, None, "W")])], whole(7, None, "W")),
        (EVENT, [partial(ts=7, a="x"), FULL_6], whole(7, "x", "B")),
        (EVENT, [FULL_6, partial(ts=7, b="y")], whole(7, "F", "y")),
        (EVENT, [partial(a="x")], whole(5, "x", "B")),
        (EVENT, [partial(ts=8, a="x"), partial(b="y")], whole(8, "x", "y")),
        (EVENT, [partial(ts=6, **{IS_DELETED: True})], None),
        (EVENT, [partial(ts=4, **{IS_DELETED: True})], whole(5, "A", "B")),
        (EVENT, [partial(ts=6, a="x"), GONE], None),
        (EVENT, [GONE, partial(ts=1, a="x")], whole(1, "x", None)),
        (EVENT, [(None, [Delete("k", "", 8)]), partial(ts=7, a="x")], None),
        (EVENT, [(None, [Delete("k", "", 8)]), partial(ts=8, a="x")], whole(8, "x", None)),
        (COMMIT, [partial(ts=1, a="x"), partial(b=None)], whole(1, "x", None)),
        (COMMIT, [partial(ts=9, a="x"), partial(ts=1, a="y")], whole(1, "y", "B")),
        (COMMIT, [GONE, partial(a="x")], whole(None, "x", None)),
    ],
)
def test_partial_updates_of_a_row(mode: MergeMode, batches: list[Batch], left: Row | None) -> None:
    """LF-046: the winner replaces the columns that it has, a loser none; after a delete there is no previous row."""
    bystander = {KEY: "other", "ts": 1, "a": "o", "b": "o", IS_DELETED: None}
    found = merged([whole(5, "A", "B"), bystander], batches, mode)
    assert found == ([left, bystander] if left is not None else [bystander])


def test_a_partial_update_of_a_new_key_has_its_columns_only() -> None:
    """LF-046: there is no previous value, so the others are null."""
    assert merged([], [partial(ts=6, a="x")], EVENT) == [whole(6, "x", None)]


def test_only_rows_that_lack_columns_are_filled() -> None:
    """LF-046, META-009: a stored null stays (ER-274), also beside a partial update of a new key."""
    schema = pa.schema([(KEY, pa.string()), ("a", pa.int64()), ("p", pa.string())])
    base = pa.Table.from_pylist([{KEY: "k", "a": 1, "p": None}, {KEY: "l", "a": 1, "p": None}], schema=schema)
    change = pa.Table.from_pylist([{KEY: "l", "a": 2}, {KEY: "m", "a": 2}], schema=schema)
    fill = lambda found: found.set_column(2, "p", pa.array(["x"] * found.num_rows, pa.string()))  # noqa: E731
    found = merge_changes(base, Changes([change], schema, {0: frozenset({KEY, "a"})}, fill=fill), Merging(COMMIT)).to_pylist()
    assert {row[KEY]: (row["a"], row["p"]) for row in found} == {"k": (1, None), "l": (2, None), "m": (2, "x")}


def test_fields_of_a_struct_are_not_merged_one_by_one() -> None:
    """LF-046: a column is replaced as a whole."""
    kind = pa.struct([("x", pa.int64()), ("y", pa.int64())])
    schema = pa.schema([(KEY, pa.string()), ("s", kind), ("t", kind)])
    base = pa.Table.from_pylist([{KEY: "k", "s": {"x": 1, "y": 1}, "t": {"x": 1, "y": 1}}], schema=schema)
    change = pa.Table.from_pylist([{KEY: "k", "s": {"x": 2, "y": None}, "t": None}], schema=schema)
    found = merge_changes(base, Changes([change], schema, {0: frozenset({KEY, "s"})}), Merging(COMMIT))
    assert found.to_pylist() == [{KEY: "k", "s": {"x": 2, "y": None}, "t": {"x": 1, "y": 1}}]


def test_of_several_ordering_fields_those_that_are_missing_keep_their_value() -> None:
    """LF-046, MRG-019: (5, B) against an update that only has the second field compares the second field."""
    for b, wins in (("A", False), ("C", True)):
        found = merged([whole(5, "old", "B")], [partial(a="new", b=b)], EVENT, ("ts", "b"))
        assert found == [whole(5, "new", b) if wins else whole(5, "old", "B")]


def by_dictionary(base: Sequence[Row], batches: Sequence[Batch], mode: MergeMode) -> list[Row]:
    """The rows computed with a dictionary, directly by the rule."""
    state = {row[KEY]: dict(row) for row in base}
    for names, entries in batches:
        for entry in entries:
            if isinstance(entry, Delete):
                state.pop(entry.key, None)
                continue
            old = state.get(entry[KEY])
            if old is not None and mode == EVENT and "ts" in entry and entry["ts"] < (old["ts"] or 0):
                continue
            before = old if old is not None and names is not None else {}
            state[entry[KEY]] = dict.fromkeys(SCHEMA.names) | before | entry
    return sorted(state.values(), key=lambda row: str(row[KEY]))


@bounded(300)
@given(histories(), st.sampled_from([EVENT, COMMIT]), st.booleans())
def test_partial_updates_are_updates_of_a_dictionary(batches: list[Batch], mode: MergeMode, stored: bool) -> None:
    """LF-045, LF-046: a row has the values of all updates that were not too late, in order."""
    base = [{**whole(2, "A", "B"), KEY: "k"}] if stored else []
    assert merged(base, batches, mode) == by_dictionary(base, batches, mode)


@bounded(200)
@given(histories(), st.integers(0, 5), st.sampled_from([EVENT, COMMIT]))
def test_compaction_does_not_change_partial_updates(batches: list[Batch], cut: int, mode: MergeMode) -> None:
    """Property: a compaction after any of the blocks gives the same rows, because it merges the oldest versions first, like a query."""
    base = [whole(2, "A", "B")]
    compacted = merged(base, batches[:cut], mode) if cut else base
    later = batches[cut:]
    assert (merged(compacted, later, mode) if later else compacted) == merged(base, batches, mode)


@bounded(250)
@given(merges())
def test_partial_blocks_with_every_column_equal_whole_blocks(
    merge: tuple[pa.Table, Changes, Merging],
) -> None:
    """LF-045: the flag alone changes no row."""
    base, changes, merging = merge
    assume(len(changes))
    kept, won = select(base, changes, merging)
    right = [*base.take(kept).column("tag").to_pylist(), *changes.rows.take(won).column("tag").to_pylist()]
    every = frozenset(changes.schema.names)
    flags = {number: every for number, batch in enumerate(changes.batches) if isinstance(batch, pa.Table)}
    found = merge_partial_blocks(base, Changes(changes.batches, changes.schema, flags), merging)
    assert sorted(found.column("tag").to_pylist()) == sorted(right)
    places = list(
        itertools.chain(*(batch.column("tag").to_pylist() for batch in changes.batches if isinstance(batch, pa.Table)))
    )
    assert len(set(places)) == len(places)
