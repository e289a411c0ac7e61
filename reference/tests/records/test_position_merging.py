"""Record positions: when they are valid, equality with merging by key, and the positions that writers store."""

import itertools
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from merge_samples import COMMIT, EVENT, merges, select_by_columns, table
from reference_samples import FLAGGED_SCHEMA, bounded, data_files, flagged, new_table, trip, trips

from hudi_reference.errors import MalformedLogBlock
from hudi_reference.files.log.block import Block, BlockType, HeaderKey
from hudi_reference.files.log.content import Delete, decode_deletes, decode_rows
from hudi_reference.files.log.positions import encode_positions, position_headers, positions_of, usable_positions
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.records.changes import KEY, Changes
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.merging.merge_slice import merge_changes, select
from hudi_reference.write.write_context import LogOptions

MOR: Any = {"table_type": "MERGE_ON_READ", "ordering": ("ts",)}
BASE = "20260101000001000"


def block(positions: list[int] | None, base_instant: str | None = BASE) -> Block:
    """A block with these two headers."""
    header: dict[int, str] = {} if positions is None else {HeaderKey.RECORD_POSITIONS: encode_positions(positions)}
    if base_instant is not None:
        header[HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS] = base_instant
    return Block(BlockType.AVRO_DATA, header, b"", "f", 7)


@pytest.mark.parametrize(
    ("found", "records", "places"),
    [
        (block([0, 2]), 2, [0, 2]),
        (block([0, 9]), 2, [0, 9]),
        (block([0, 10]), 2, None),  # the base file has ten rows
        (block([0, 2]), 3, None),
        (block([0, 2, 4]), 2, None),
        (block([]), 1, None),
        (block(None), 1, None),
        (block([0, 2], None), 2, None),
        (block([0, 2], "20260101000000000"), 2, None),
        (block([0, 2], ""), 2, None),
    ],
)
def test_valid_positions_are_used(found: Block, records: int, places: list[int] | None) -> None:
    """LF-043, ER-014: positions of this base file, one for each record, within its rows; otherwise records are matched by key."""
    in_base = usable_positions(found, BASE, 10, records)
    assert (None if in_base is None else list(in_base)) == places


def test_damaged_positions_of_this_base_file_are_an_error() -> None:
    """LF-041: whether they are usable is not known."""
    header = {HeaderKey.RECORD_POSITIONS: "?", HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS: BASE}
    with pytest.raises(MalformedLogBlock, match="LF-041"):
        usable_positions(Block(BlockType.AVRO_DATA, {**header}, b"", "f", 7), BASE, 10, 1)


def with_places(base: pa.Table, changes: Changes) -> tuple[pa.Table, Changes]:
    """A base file in which each key of the changes occurs once, and the changes with the places of their keys in it."""
    keys = [
        batch.column(KEY).to_pylist() if isinstance(batch, pa.Table) else [d.key for d in batch] for batch in changes.batches
    ]
    first = {key: row for row, key in reversed(list(enumerate(base.column(KEY).to_pylist())))}
    missing = [key for key in dict.fromkeys(itertools.chain(*keys)) if key not in first]
    more = pa.Table.from_pylist([{KEY: key, "tag": f"added {key}"} for key in missing], schema=base.schema)
    whole = pa.concat_tables([base.take(pa.array(sorted(first.values()), pa.int64())), more])
    place = {key: row for row, key in enumerate(whole.column(KEY).to_pylist())}
    return whole, Changes(changes.batches, changes.schema, record_positions=[[place[key] for key in found] for found in keys])


@bounded(250)
@given(merges())
def test_merging_by_position_equals_merging_by_key(merge: tuple[pa.Table, Changes, Merging]) -> None:
    """LF-043: with positions the same rows are kept and win, in the plain and the fast merge."""
    base, keyed, merging = merge
    if not len(keyed):
        return
    base, placed = with_places(base, keyed)
    right = [sorted(found.to_pylist()) for found in select(base, keyed, merging)]
    for path in (select, select_by_columns):
        assert [sorted(found.to_pylist()) for found in path(base, placed, merging)] == right


@pytest.mark.parametrize("mode", [EVENT, COMMIT])
@pytest.mark.parametrize("many", [False, True])
def test_position_selects_one_of_several_rows_with_a_key(mode: MergeMode, many: bool) -> None:
    """LF-043: positions are used and not only decoded: of two base rows with one key only the one that is named changes."""
    base = table(("a", 1, "a first"), ("b", 1, "b"), ("a", 1, "a second"), ("b", 1, "b second"))
    batches = [table(("a", 2, "new a")), [Delete("b", "", None)]]
    placed = Changes(batches, base.schema, record_positions=[[2], [1]])
    kept, won = (select_by_columns if many else select)(base, placed, Merging(mode, ("o",)))
    assert base.take(kept).column("tag").to_pylist() == ["a first", "b second"]
    assert placed.rows.take(won).column("tag").to_pylist() == ["new a"]
    assert merge_changes(base, placed, Merging(mode, ("o",))).num_rows == 3


def blocks_of_last_log(made: Any) -> list[Block]:
    """The blocks of the newest log file."""
    return list(read_log_file(made.storage, max(data_files(made, ".log."), key=lambda path: path.rpartition("_")[0])))


def test_a_writer_names_the_rows_that_it_changes() -> None:
    """LF-041, LF-042, BLK-011: rows and deletes each in the order of the base file, with its instant; counted from 0."""
    made = new_table(schema=FLAGGED_SCHEMA, **MOR)
    first = made.insert(flagged(*(trip(str(key), "a", 1) for key in range(6))))
    gone = (trip("4", ts=2, _hoodie_is_deleted=True), trip("1", ts=2, _hoodie_is_deleted=True))
    made.upsert(flagged(trip("5", "b", 2), *gone, trip("0", "b", 2), trip("3", "b", 2)))
    data, deletes = blocks_of_last_log(made)
    assert decode_rows(data).column("id").to_pylist() == ["0", "3", "5"]
    assert [entry.key for entry in decode_deletes(deletes)] == ["1", "4"]
    for found, positions in ((data, [0, 3, 5]), (deletes, [1, 4])):
        assert list(positions_of(found)) == positions
        assert found.header[HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS] == first


def test_changes_of_several_logs_are_matched_by_position() -> None:
    """LF-043: matching by position gives the same rows as matching by key, over several writes and a delete by key."""
    made = new_table(**MOR)
    made.insert(trips(*(trip(str(key), "a", 1) for key in range(6))))
    made.upsert(trips(trip("5", "b", 2), trip("2", "b", 2)))
    made.delete(trips(trip("2"), trip("0")).select(["id"]))
    made.upsert(trips(trip("5", "late", 1), trip("3", "c", 3)))
    found = {row["id"]: row["name"] for row in made.snapshot().to_pylist()}
    assert found == {"1": "a", "3": "c", "4": "a", "5": "b"}
    view = made.view()
    by_key = replace(view.reader(made), by_position=False)
    (rows,) = (by_key.read(part, ["id", "name"]) for part in view.groups.latest_slices)
    assert {row["id"]: row["name"] for row in rows.to_pylist()} == found


@pytest.mark.parametrize("reason", ["a key only in logs", "a key twice in the base file", "switched off"])
def test_a_writer_omits_positions_that_are_not_unique(reason: str) -> None:
    """LF-042: neither of the two headers if a record has no base row, or several; or if the option is off."""
    made = new_table(**MOR)
    made.insert(trips(trip("1", "a", 1), trip("2", "a", 1), *([trip("2", "b", 1)] if "twice" in reason else [])))
    if "logs" in reason:
        made.delete(trips(trip("2")).select(["id"]))
        made = new_table(**MOR)
        made.upsert(trips(trip("1", "a", 1), trip("2", "a", 1)), new_keys_in_logs=True)
    made.upsert(trips(trip("2", "new", 2), trip("1", "new", 2)), logs=LogOptions(positions="off" not in reason))
    (data,) = blocks_of_last_log(made)
    assert not {HeaderKey.RECORD_POSITIONS, HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS} & set(data.header)
    others = {"b"} if "twice" in reason else set()  # ER-216: a change is merged into the first row of its key
    assert {row["name"] for row in made.snapshot().to_pylist()} == {"new", *others}


@given(st.sets(st.integers(0, 2**40), min_size=1, max_size=50))
def test_written_headers_are_read_as_the_same_positions(positions: set[int]) -> None:
    """LF-041, LF-042: with gaps, beyond 65536 and beyond 32 bits."""
    found = Block(BlockType.DELETE, position_headers(BASE, sorted(positions)), b"")
    assert list(usable_positions(found, BASE, 2**41, len(positions)) or ()) == sorted(positions)
