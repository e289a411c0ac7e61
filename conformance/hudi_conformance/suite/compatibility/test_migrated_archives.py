"""The archived actions of a table that was migrated from version 6: each kind of action with its metadata and its plan.

At version 6 the archive has one record for each state of an action, and one field for each type of metadata and plan.
"""

import io
import json
import shutil
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fastavro
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.tables.older_tables import golden_table
from hudi_conformance.suite.support.tables.stored_blocks import MAGIC, SCHEMA, Block, parse_blocks
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import migrate

Record = dict[str, Any]
#: A time before the first action of the golden table.
TIME = "20261121000000123"
STATS: Record = {"partitionToWriteStats": {}, "extraMetadata": {"note": "kept"}, "operationType": "UPSERT"}
REPLACED: Record = {**STATS, "operationType": "CLUSTER", "partitionToReplaceFileIds": {"x": ["group"]}}
PLANNED: Record = {"operations": [], "extraMetadata": {"note": "planned"}, "version": 2}
CLUSTERING: Record = {"inputGroups": [], "extraMetadata": {"note": "planned"}, "version": 1}


@dataclass(frozen=True)
class Kind:
    """A kind of action: its name while it is pending and when it is completed, and its records by their fields in the archive.

    `metadata` and `plan` are the types of records that the history has.
    """

    pending: str
    completed: str
    done: Record
    requested: Record = field(default_factory=dict)
    inflight: Record = field(default_factory=dict)
    metadata: str = "HoodieCommitMetadata"
    plan: str | None = None


KINDS: Mapping[str, Kind] = {
    "compaction": Kind(
        "compaction", "commit", {"hoodieCommitMetadata": STATS}, {"hoodieCompactionPlan": PLANNED}, plan="HoodieCompactionPlan"
    ),
    "log compaction": Kind(
        "logcompaction",
        "deltacommit",
        {"hoodieCommitMetadata": STATS},
        {"hoodieCompactionPlan": PLANNED},
        plan="HoodieCompactionPlan",
    ),
    "clustering": Kind(
        "replacecommit",
        "replacecommit",
        {"hoodieReplaceCommitMetadata": REPLACED},
        {"hoodieRequestedReplaceMetadata": {"operationType": "CLUSTER", "clusteringPlan": CLUSTERING}},
        metadata="HoodieReplaceCommitMetadata",
        plan="HoodieRequestedReplaceMetadata",
    ),
    "overwrite": Kind(
        "replacecommit",
        "replacecommit",
        {"hoodieReplaceCommitMetadata": {**REPLACED, "operationType": "INSERT_OVERWRITE"}},
        inflight={"HoodieInflightReplaceMetadata": {**STATS, "operationType": "INSERT_OVERWRITE"}},
        metadata="HoodieReplaceCommitMetadata",
        plan="HoodieCommitMetadata",
    ),
    "clean": Kind(
        "clean",
        "clean",
        {
            "hoodieCleanMetadata": {
                "startCleanTime": TIME, "timeTakenInMillis": 7, "totalFilesDeleted": 3, "earliestCommitToRetain": TIME,
                "partitionMetadata": {}, "version": 2,
            }
        },
        {"hoodieCleanerPlan": {"policy": "KEEP_LATEST_COMMITS", "version": 2}},
        metadata="HoodieCleanMetadata",
        plan="HoodieCleanerPlan",
    ),
    "rollback": Kind(
        "rollback",
        "rollback",
        {
            "hoodieRollbackMetadata": {
                "startRollbackTime": TIME, "timeTakenInMillis": 7, "totalFilesDeleted": 3, "commitsRollback": ["20261120"],
                "partitionMetadata": {}, "version": 1, "instantsRollback": [],
            }
        },
        metadata="HoodieRollbackMetadata",
    ),
    "savepoint": Kind(
        "savepoint",
        "savepoint",
        {
            "hoodieSavePointMetadata": {
                "savepointedBy": "user", "savepointedAt": 7, "comments": "why", "partitionMetadata": {}, "version": 1,
            }
        },
        metadata="HoodieSavepointMetadata",
    ),
    "indexing": Kind(
        "indexing",
        "indexing",
        {"hoodieIndexCommitMetadata": {"version": 1, "operationType": "INDEX", "indexPartitionInfos": []}},
        metadata="HoodieIndexCommitMetadata",
    ),
}  # fmt: skip


def archive_action(folder: Path, kind: Kind) -> None:
    """Add a file to the archive with the three states of an action, in the schema of the other files."""
    earlier = sorted(folder.glob(".commits_.archive.*"))
    header = parse_blocks(earlier[0].read_bytes())[0].header
    schema = fastavro.parse_schema(json.loads(header[SCHEMA]))
    states = (
        (kind.pending, "REQUESTED", kind.requested),
        (kind.pending, "INFLIGHT", kind.inflight),
        (kind.completed, "COMPLETED", kind.done),
    )
    content = struct.pack(">ii", 3, len(states))
    for action, state, records in states:
        out = io.BytesIO()
        record = {"commitTime": TIME, "actionType": action, "actionState": state, **records}
        fastavro.schemaless_writer(out, schema, record, strict=False, disable_tuple_notation=True)
        content += struct.pack(">i", len(out.getvalue())) + out.getvalue()
    (folder / ".commits_.archive.99_1-0-1").write_bytes(stored_block(Block(3, 1, header, content)))


def stored_block(block: Block) -> bytes:
    """Return the bytes of a block without a footer."""
    header = struct.pack(">i", len(block.header))
    for key, text in block.header.items():
        header += struct.pack(">ii", key, len(text.encode())) + text.encode()
    head = struct.pack(">ii", block.version, block.kind) + header
    body = head + struct.pack(">q", len(block.content)) + block.content + struct.pack(">i", 0)
    return MAGIC + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(MAGIC) + 8 + len(body))


def read_container(data: bytes) -> tuple[str, Record]:
    """Return the type and the content of the record in an Avro file."""
    reader = fastavro.reader(io.BytesIO(data))
    (record,) = reader
    assert isinstance(record, dict)
    return json.loads(reader.metadata["avro.schema"])["name"], record


def expect_record(data: bytes | None, type: str | None, records: Record, what: str) -> None:
    """Check the type of a record in the history and that it has the values of the archive; there is none without a type."""
    if type is None:
        assert not data, what
        return
    assert data, f"{what} is lost"
    name, found = read_container(data)
    (given,) = records.values()
    assert (name, part_of(found, given)) == (type, given), what


def part_of(found: Any, given: Any) -> Any:
    """Return the members of a record that the given one has; the others are defaults."""
    if isinstance(found, dict) and isinstance(given, dict):
        return {key: part_of(found.get(key), value) for key, value in given.items()}
    return found


@pytest.mark.needs("table-version.6", "read.snapshot", "timeline.history")
@pytest.mark.requirements("COMPAT-006", "COMPAT-003", "LSM-020")
@pytest.mark.parametrize("name", KINDS)
def test_archived_actions_keep_their_metadata_and_plan(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """COMPAT-006: each archived action of version 6 is in the history of version 8 under the name that it has when it is
    completed, with the record of its completed state as metadata and that of its plan, if it has one.
    """
    only_in_process(engine)
    uri, kind = new_uri(), KINDS[name]
    shutil.copytree(golden_table("v6.mor.archived"), table_folder(uri))
    archive_action(table_folder(uri) / ".hoodie" / "history", kind)
    migrate(uri)
    history = table_folder(uri) / ".hoodie" / "timeline" / "history"
    rows = [row for path in history.glob("*.parquet") for row in pq.read_table(path).to_pylist() if row["instantTime"] == TIME]
    assert [row["action"] for row in rows] == [kind.completed]
    assert rows[0]["completionTime"] > TIME
    expect_record(rows[0]["metadata"], kind.metadata, kind.done, f"metadata of the {name}")
    expect_record(rows[0]["plan"], kind.plan, kind.requested or kind.inflight, f"plan of the {name}")
