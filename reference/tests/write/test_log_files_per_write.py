"""The log files of one write: their number and versions, the attempt whose blocks count, files of failed attempts."""

from dataclasses import replace
from typing import Any

import pytest
from reference_samples import data_files, new_table, reopened, trip, trips

from hudi_reference.errors import MalformedLogBlock, Misuse
from hudi_reference.files.log.block import Block, BlockType, HeaderKey, encode_block
from hudi_reference.files.log.content import decode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import require_log_file_name, split_path
from hudi_reference.query.log_scanner import drop_failed_attempts
from hudi_reference.write.write_context import LogOptions

MOR: Any = {"table_type": "MERGE_ON_READ", "ordering": ("ts",)}
MANY = 70_000


def sizes_by_version(table: Any) -> dict[int, int]:
    """The rows in each version of the newest log file."""
    paths = data_files(table, ".log.")
    return {
        require_log_file_name(split_path(path)[1]).version: sum(
            decode_rows(block).num_rows for block in read_log_file(table.storage, path) if block.kind is BlockType.AVRO_DATA
        )
        for path in paths
    }


@pytest.mark.parametrize(
    ("options", "files", "blocks"),
    [
        (LogOptions(), 1, 1),
        (LogOptions(max_file_size=1), 1, 1),
        (LogOptions(max_block_size=1), 1, 12),
        (LogOptions(max_file_size=1, max_block_size=1), 12, 12),
        (LogOptions(max_file_size=3_000, max_block_size=1), 3, 12),
    ],
)
def test_a_file_that_is_full_is_followed_by_the_next_version(options: LogOptions, files: int, blocks: int) -> None:
    """LF-005: blocks are cut by rows, files between blocks; versions go on from 1 with one token; stats tell of each file."""
    table = new_table(**MOR)
    rows = [trip(str(key), "a", 1) for key in range(12)]
    table.insert(trips(*rows))
    table.upsert(trips(*({**row, "name": "b", "ts": 2} for row in rows)), logs=options)
    found = sizes_by_version(table)
    assert sorted(found) == list(range(1, len(found) + 1))
    assert sum(found.values()) == 12
    assert len(found) == files
    names = [require_log_file_name(split_path(path)[1]) for path in data_files(table, ".log.")]
    assert len({name.write_token for name in names}) == 1
    assert sum(1 for path in data_files(table, ".log.") for _ in read_log_file(table.storage, path)) == blocks
    commit = list(table.view().groups.commits.values())[-1]
    assert {stat.path: (stat.log_version, stat.writes) for stat in commit.stats} == {
        path: (name.version, found[name.version]) for path, name in zip(data_files(table, ".log."), names, strict=True)
    }
    assert {row["name"] for row in reopened(table).snapshot().to_pylist()} == {"b"}


def test_options_have_the_names_of_deployed_settings() -> None:
    """LF-005, LF-042: sizes in bytes, positions unless switched off."""
    found = LogOptions.from_properties({"hoodie.logfile.max.size": "7", "hoodie.write.record.positions": "false"})
    assert found == LogOptions(max_file_size=7, max_block_size=256 << 20, positions=False)
    assert LogOptions.from_properties({}) == LogOptions()


@pytest.mark.parametrize("size", ["many", "0", "-1", "1.5", "", "9" * 5000])
@pytest.mark.parametrize("setting", ["hoodie.logfile.max.size", "hoodie.logfile.data.block.max.size"])
def test_sizes_that_are_no_positive_numbers_are_refused(setting: str, size: str) -> None:
    """LF-005: a size that is not a positive number is refused before anything is written."""
    table = new_table(**MOR)
    table.insert(trips(trip("1", "a", 1)))
    before = reopened(table).timeline.instants
    with pytest.raises(Misuse, match=setting):
        replace(table, options={**table.options, setting: size}).upsert(trips(trip("1", "b", 2)))
    assert reopened(table).timeline.instants == before


def test_many_positions_in_several_containers() -> None:
    """LF-041, LF-042, LF-043: rows beyond the 65536th are found by position in the one way and by key in the other."""
    table = new_table(**MOR)
    table.bulk_insert(trips(*(trip(str(key), "a", 1) for key in range(MANY))))
    changed = [0, 1, 65_535, 65_536, 65_537, MANY - 1]
    table.upsert(trips(*(trip(str(key), "b", 2) for key in reversed(changed))))
    table.delete(trips(trip("65536"), trip("2")).select(["id"]))
    rows = table.snapshot(["id"], where=[("name", "=", "b")]).column("id").to_pylist()
    assert sorted(rows, key=int) == ["0", "1", "65535", "65537", str(MANY - 1)]
    assert table.snapshot([]).num_rows == MANY - 2


def block(identifier: str | None, instant: str = "1") -> Block:
    """A block with this identifier."""
    header: dict[int, str] = {HeaderKey.INSTANT_TIME: instant}
    return Block(BlockType.AVRO_DATA, header if identifier is None else header | {HeaderKey.BLOCK_IDENTIFIER: identifier}, b"")


@pytest.mark.parametrize(
    ("identifiers", "stay"),
    [
        (["0,0", "0,1"], ["0,0", "0,1"]),
        (["0,0", "1,0"], ["1,0"]),
        (["1,0", "0,0"], ["1,0"]),
        (["0,0", "0,1", "1,0"], ["0,0", "0,1"]),
        (["9,0", "10,0"], ["10,0"]),
        (["0,0", None, "1,0", "1,1", None], [None, "1,0", "1,1", None]),
        ([None, None], [None, None]),
    ],
)
def test_one_attempt_of_an_instant_counts(identifiers: list[str | None], stay: list[str | None]) -> None:
    """LF-044: the one with the most blocks, the last of equals by number; blocks without identifier always."""
    found = drop_failed_attempts([block(identifier) for identifier in identifiers])
    assert [entry.header.get(HeaderKey.BLOCK_IDENTIFIER) for entry in found] == stay


def test_attempts_of_different_instants_are_independent() -> None:
    """LF-044: for each instant one attempt counts."""
    queue = [block("0,0", "1"), block("1,0", "2"), block("0,1", "1"), block("2,0", "2")]
    assert drop_failed_attempts(queue) == [queue[0], queue[2], queue[3]]


@pytest.mark.parametrize("text", ["", "0", "0,", ",0", "0,0,0", "a,b", "-1,0", "\u0661,0"])
def test_an_identifier_of_another_form_is_an_error(text: str) -> None:
    """LF-044: it is then unknown whether the block is a copy of another one."""
    with pytest.raises(MalformedLogBlock, match="LF-044"):
        drop_failed_attempts([block(text)])


def test_shared_log_files_are_not_left_over_files() -> None:
    """LF-007: a log file with a command, with blocks of another action, or that cannot be read is no left-over file."""
    table = new_table(**MOR)
    first = table.insert(trips(trip("1", "a", 1)))
    second = table.upsert(trips(trip("1", "b", 2)))
    (path,) = data_files(table, ".log.")
    stem = path.rpartition(".log.")[0]
    command = {HeaderKey.INSTANT_TIME: second, HeaderKey.TARGET_INSTANT_TIME: second, HeaderKey.COMMAND_BLOCK_TYPE: "0"}
    contents = {
        f"{stem}.log.2_1-0-1": encode_block(BlockType.COMMAND, command, b""),
        f"{stem}.log.3_1-0-1": encode_block(BlockType.DELETE, {HeaderKey.INSTANT_TIME: first}, b""),
        f"{stem}.log.4_1-0-1": b"no log file at all",
    }
    lost = {f"{stem}.log.5_1-0-1": b"", f"{stem}.log.6_1-0-1": table.storage.get(path)[:50]}
    for name, content in (contents | lost).items():
        table.storage.put(name, content)
    assert table.leftover_files() == tuple(sorted(lost))
    assert table.remove_leftover_files() == tuple(sorted(lost))
    assert table.remove_leftover_files(dry_run=False) == tuple(sorted(lost))
    assert table.leftover_files() == ()
    assert set(contents) < set(data_files(table, ".log."))
