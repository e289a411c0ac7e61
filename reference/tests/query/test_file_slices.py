"""File groups, slices and valid blocks, on tables whose files were built by hand."""

import io
import json
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from reference_samples import FLAGGED_SCHEMA, names, new_table, rows_of, trip

from hudi_reference import WritableTable
from hudi_reference.files.base_file import encode_base_file
from hudi_reference.files.log.block import BlockType, HeaderKey, encode_block
from hudi_reference.files.log.content import Delete, encode_deletes, encode_rows
from hudi_reference.schema.avro import META_COLUMNS, arrow_schema, with_meta_columns
from hudi_reference.timeline.contents.metadata import COMMIT_METADATA_SCHEMA, WriteStat, write_commit_metadata

STORED = with_meta_columns(FLAGGED_SCHEMA)
GROUP = "f1-0"


def at(second: int) -> str:
    """An instant time."""
    return f"202601010000{second:02d}000"


def stored(*rows: dict[str, Any], instant: str) -> pa.Table:
    """Rows with meta columns."""
    plain = rows_of(FLAGGED_SCHEMA, *rows)
    count = plain.num_rows
    meta = [
        [instant] * count,
        [f"{instant}_0_{n}" for n in range(count)],
        plain.column("id").to_pylist(),
        [""] * count,
        [GROUP] * count,
    ]
    arrays = [pa.array(values, pa.string()) for values in meta]
    return pa.table([*arrays, *plain.columns], schema=arrow_schema(STORED)).select([*META_COLUMNS, *plain.column_names])


def base_name(second: int, group: str = GROUP) -> str:
    """Name of a base file."""
    return f"{group}_0-0-0_{at(second)}.parquet"


def log_name(second: int, version: int = 1, token: str = "0-0-0", group: str = GROUP) -> str:
    """Name of a log file."""
    return f".{group}_{at(second)}.log.{version}_{token}"


def base_file(second: int, *rows: dict[str, Any]) -> bytes:
    """Bytes of a base file."""
    return encode_base_file(stored(*rows, instant=at(second)), STORED)


def data_block(second: int, *rows: dict[str, Any], **more: str) -> bytes:
    """Bytes of a data block; `more` are further header entries by name."""
    header = {HeaderKey.INSTANT_TIME: at(second), HeaderKey.SCHEMA: json.dumps(STORED)}
    header |= {HeaderKey[name.upper()]: text for name, text in more.items()}
    return encode_block(BlockType.AVRO_DATA, header, encode_rows(stored(*rows, instant=at(second)), STORED))


def delete_block(second: int, *keys: str) -> bytes:
    """Bytes of a block of deletes by key."""
    content = encode_deletes([Delete(key, "", None) for key in keys], [])
    return encode_block(BlockType.DELETE, {HeaderKey.INSTANT_TIME: at(second)}, content)


def rollback_block(second: int, target: int) -> bytes:
    """Bytes of a command that undoes the blocks of `target`."""
    header = {HeaderKey.INSTANT_TIME: at(second), HeaderKey.TARGET_INSTANT_TIME: at(target), HeaderKey.COMMAND_BLOCK_TYPE: "0"}
    return encode_block(BlockType.COMMAND, header, b"")


def table_of(**options: Any) -> WritableTable:
    """An empty merge-on-read table in commit-time mode."""
    return new_table(schema=FLAGGED_SCHEMA, table_type="MERGE_ON_READ", **options)


def put(table: WritableTable, begin: int, end: int | None, files: dict[str, bytes], action: str = "deltacommit") -> None:
    """Write files and their instant, completed at `end` or inflight."""
    for name, data in files.items():
        table.storage.put(name, data)
    table.storage.put(f".hoodie/timeline/{at(begin)}.{action}.requested", b"")
    table.storage.put(f".hoodie/timeline/{at(begin)}.{'inflight' if action == 'commit' else action + '.inflight'}", b"")
    if end is not None:
        stats = [WriteStat(GROUP, "", name, size=len(data), is_log=".log." in name) for name, data in files.items()]
        data = write_commit_metadata("UPSERT", stats, FLAGGED_SCHEMA, bytes(16))
        table.storage.put(f".hoodie/timeline/{at(begin)}_{at(end)}.{action}", data)


def slices(table: WritableTable) -> list[tuple[str, str | None, list[str]]]:
    """Base instant (its seconds), base file and log files of the group's slices, newest first."""
    (group,) = [group for group in table.file_groups() if group.file_id == GROUP]
    return [(found.base_instant[12:14], found.base_file, list(found.log_files)) for found in group.slices]


def test_logs_are_merged_by_requested_time_not_by_completion() -> None:
    """ER-021, MRG-025: of two overlapping delta commits the one requested later wins, although it completed first."""
    table = table_of()
    put(table, 1, 2, {base_name(1): base_file(1, trip("1", "base"))})
    put(table, 3, 9, {log_name(3): data_block(3, trip("1", "requested first"))})
    put(table, 4, 5, {log_name(4): data_block(4, trip("1", "requested later"))})
    assert slices(table) == [("01", base_name(1), [log_name(3), log_name(4)])]
    assert names(table) == {"1": "requested later"}


def test_logs_of_one_instant_are_ordered_by_number_then_token() -> None:
    """LF-005, ER-021: version 10 comes after version 9; tokens compare as texts."""
    table = table_of()
    put(table, 1, 2, {base_name(1): base_file(1, trip("1", "base"), trip("2", "base"))})
    put(table, 3, 4, {log_name(3, 10): data_block(3, trip("1", "ten")), log_name(3, 9): data_block(3, trip("1", "nine"))})
    assert slices(table)[0][2] == [log_name(3, 9), log_name(3, 10)]
    assert names(table) == {"1": "ten", "2": "base"}


def test_log_file_belongs_to_the_newest_base_before_its_completion() -> None:
    """RDR-012, ER-035: a log file requested before a compaction and completed after it belongs to the new slice."""
    table = table_of()
    put(table, 1, 2, {base_name(1): base_file(1, trip("1", "old"))})
    put(table, 3, 8, {log_name(3): data_block(3, trip("1", "change"))})
    put(table, 5, 9, {base_name(5): base_file(5, trip("1", "old"))}, action="commit")
    assert slices(table) == [("05", base_name(5), [log_name(3)]), ("01", base_name(1), [])]
    assert names(table) == {"1": "change"}


def test_log_file_completed_before_the_base_is_not_applied() -> None:
    """RDR-012: its change is already in the new base file."""
    table = table_of()
    put(table, 1, 2, {base_name(1): base_file(1, trip("1", "old"))})
    put(table, 3, 4, {log_name(3): data_block(3, trip("1", "change"))})
    put(table, 5, 6, {base_name(5): base_file(5, trip("1", "compacted"))}, action="commit")
    assert slices(table) == [("05", base_name(5), []), ("01", base_name(1), [log_name(3)])]
    assert names(table) == {"1": "compacted"}


def test_files_of_incomplete_writes_are_ignored() -> None:
    """RDR-005, ER-036: an uncommitted base file has no visible rows, and later log files do not belong to it."""
    table = table_of()
    put(table, 1, 2, {base_name(1): base_file(1, trip("1", "base"))})
    put(
        table,
        3,
        None,
        {base_name(3): base_file(3, trip("1", "uncommitted")), log_name(3): data_block(3, trip("1", "uncommitted"))},
    )
    put(table, 4, 5, {log_name(4): data_block(4, trip("2", "committed"))})
    assert slices(table) == [("01", base_name(1), [log_name(4)])]
    assert names(table) == {"1": "base", "2": "committed"}


def test_pending_compaction_begins_a_new_slice() -> None:
    """RDR-015, CMP-003: log files after the plan belong to the new slice, whose base file does not exist yet; it is read with
    the previous one."""
    operation = {"type": "record", "name": "HoodieCompactionOperation", "fields": [
        {"name": "baseInstantTime", "type": ["null", "string"]}, {"name": "fileId", "type": ["null", "string"]},
        {"name": "partitionPath", "type": ["null", "string"]}]}  # fmt: skip
    schema = {"type": "record", "name": "HoodieCompactionPlan", "fields": [
        {"name": "operations", "type": ["null", {"type": "array", "items": operation}]}]}  # fmt: skip
    plan = io.BytesIO()
    fastavro.writer(plan, fastavro.parse_schema(schema), [{"operations": [
        {"baseInstantTime": at(1), "fileId": GROUP, "partitionPath": ""}]}])  # fmt: skip
    table = table_of()
    put(table, 1, 2, {base_name(1): base_file(1, trip("1", "base"), trip("2", "base"), trip("3", "base"))})
    put(table, 3, 4, {log_name(3): data_block(3, trip("1", "before"), trip("2", "before"))})
    table.storage.put(f".hoodie/timeline/{at(5)}.compaction.requested", plan.getvalue())
    table.storage.put(f".hoodie/timeline/{at(5)}.compaction.inflight", b"")
    table.storage.put(base_name(5), b"half a base file")
    put(table, 6, 7, {log_name(6): data_block(6, trip("2", "after"))})
    assert slices(table) == [("05", None, [log_name(6)]), ("01", base_name(1), [log_name(3)])]
    assert names(table) == {"1": "before", "2": "after", "3": "base"}
    assert table.read_optimized(["name"]).column("name").to_pylist() == ["base"] * 3


def test_replaced_group_is_hidden_after_the_replacecommit() -> None:
    """RDR-010, RDR-011, ER-037: it is still visible as of an earlier time; a pending replacecommit hides nothing."""
    table = table_of()
    put(table, 1, 2, {base_name(1): base_file(1, trip("1", "old"))})
    schema = {**COMMIT_METADATA_SCHEMA, "name": "HoodieReplaceCommitMetadata", "fields": [*COMMIT_METADATA_SCHEMA["fields"], {
        "name": "partitionToReplaceFileIds", "type": ["null", {"type": "map", "values": {"type": "array", "items": "string"}}]}]}  # fmt: skip
    name = base_name(3, "f2-0")
    data = base_file(3, trip("2", "new"))
    stat = WriteStat("f2-0", "", name, size=len(data)).to_record()
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(json.loads(json.dumps(schema))), [{
        "partitionToWriteStats": {"": [stat]}, "compacted": False, "extraMetadata": {}, "version": None,
        "operationType": "INSERT_OVERWRITE", "partitionToReplaceFileIds": {"": [GROUP]}}])  # fmt: skip
    table.storage.put(name, data)
    table.storage.put(f".hoodie/timeline/{at(3)}.replacecommit.requested", b"")
    assert names(table) == {"1": "old"}
    table.storage.put(f".hoodie/timeline/{at(3)}_{at(4)}.replacecommit", out.getvalue())
    assert names(table) == {"2": "new"}
    assert table.as_of(at(2), ["name"]).column("name").to_pylist() == ["old"]
    assert table.as_of(at(3), ["name"]).column("name").to_pylist() == ["new"]


def test_rollback_command_drops_earlier_blocks_of_its_target() -> None:
    """LF-037, BLK-004, BLK-005: it drops all earlier blocks of its target, no later ones, and none of others."""
    table = table_of()
    base = base_file(1, trip("1", "base"), trip("2", "base"))
    put(table, 1, 2, {base_name(1): base, log_name(1): data_block(1, trip("2", "kept"))})
    blocks = data_block(3, trip("1", "rolled back")) + delete_block(3, "2")
    put(table, 3, 4, {log_name(3): blocks + rollback_block(5, 3) + data_block(3, trip("3", "after"))})
    assert names(table) == {"1": "base", "2": "kept", "3": "after"}


def test_blocks_of_incomplete_instants_are_ignored() -> None:
    """LF-036, RDR-013: the instant of the block decides, as in files that are named after the base instant."""
    table = table_of()
    put(table, 1, 2, {base_name(1): base_file(1, trip("1", "base"))})
    blocks = data_block(3, trip("1", "committed")) + data_block(7, trip("1", "not completed")) + delete_block(8, "1")
    put(table, 3, 4, {log_name(3): blocks})
    put(table, 7, None, {})
    assert names(table) == {"1": "committed"}


def test_compacted_block_replaces_its_inputs() -> None:
    """LF-040, LCP-003: it has the position of the newest input in the merge order; its inputs are not applied again."""
    table = table_of()
    put(table, 1, 2, {base_name(1): base_file(1, trip("1", "base"), trip("2", "base"))})
    put(table, 3, 4, {log_name(3): data_block(3, trip("1", "three"))})
    put(table, 5, 6, {log_name(5): data_block(5, trip("2", "five"))})
    put(table, 7, 8, {log_name(7): data_block(7, trip("1", "seven"))})
    joined = data_block(9, trip("1", "three"), trip("2", "five"), compacted_block_times=f"{at(5)},{at(3)}")
    put(table, 9, 10, {log_name(9): joined})
    assert names(table) == {"1": "seven", "2": "five"}


def test_change_data_files_are_never_merged() -> None:
    """LF-008, ER-019: names that end in .cdc hold images of changes, not changes."""
    table = table_of()
    put(table, 1, 2, {base_name(1): base_file(1, trip("1", "base")), f"{log_name(1)}.cdc": data_block(1, trip("1", "image"))})
    assert names(table) == {"1": "base"}


@pytest.mark.parametrize("committed", ["0-0-0", "9-0-0"])
def test_file_of_a_failed_attempt_is_ignored(committed: str) -> None:
    """TL-005, BF-006: the metadata of the action names the file of the successful attempt, whichever sorts first."""
    table = table_of()
    lost = "9-0-0" if committed == "0-0-0" else "0-0-0"
    put(table, 1, 2, {f"{GROUP}_{committed}_{at(1)}.parquet": base_file(1, trip("1", "won"))})
    put(table, 3, 4, {log_name(3, token=committed): data_block(3, trip("2", "won"))})
    table.storage.put(f"{GROUP}_{lost}_{at(1)}.parquet", base_file(1, trip("1", "lost")))
    table.storage.put(log_name(3, token=lost), data_block(3, trip("2", "lost"), trip("3", "lost")))
    assert names(table) == {"1": "won", "2": "won"}


def test_inspect_shows_slices_in_read_order() -> None:
    """RDR-007: files in merge order, newest slice first, and pending instants with their state."""
    table = table_of()
    put(table, 1, 2, {base_name(1): base_file(1, trip("1", "base"))})
    put(table, 3, 4, {log_name(3, 2): data_block(3), log_name(3, 1): data_block(3)})
    put(table, 5, None, {})
    found = table.inspect()
    newest = {"base_instant": at(1), "base_file": base_name(1), "log_files": [log_name(3, 1), log_name(3, 2)]}
    assert found["file_groups"] == {"": {GROUP: {"replaced_by": None, "slices": [newest], "latest": newest}}}
    assert found["timeline"]["pending"] == [{"requested": at(5), "action": "deltacommit", "state": "INFLIGHT"}]
    assert found["timeline"]["completed"][0] == {
        "requested": at(1),
        "completion": at(2),
        "action": "deltacommit",
        "where": "active",
    }
