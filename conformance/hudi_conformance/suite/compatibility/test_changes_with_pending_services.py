"""Changes between version 8 and version 9: pending services, and merge settings that differ from those of a payload class."""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.tables.migrated_tables import (
    PACKAGE,
    TYPES,
    URI,
    Type,
    as_rows,
    change,
    migrated,
    opened,
    properties,
    snapshot,
    versions,
    with_payload,
    written,
)
from hudi_reference import open_table
from hudi_reference.errors import MigrationRefused, Misuse
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.services.clustering.clustering import execute_clustering
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.indexing.indexing import schedule_indexing
from hudi_reference.storage import Storage

pytestmark = [
    pytest.mark.versions(8, 9),
    pytest.mark.needs("table-version.9", "write.upsert"),
    pytest.mark.filterwarnings("ignore:payload classes such as:DeprecationWarning"),
]
BOTH_TYPES = pytest.mark.parametrize("type", TYPES)
PREFIX = "hoodie.record.merge.property."
PARTIAL, PAYLOAD = "hoodie.table.partial.update.mode", "hoodie.compaction.payload.class"
MARKER = "hoodie.payload.delete.marker"


def set_entry(storage: Storage, key: str, value: str | None) -> None:
    """Change one entry of the properties file; None removes it."""
    entries = {**properties(storage), key: value or ""}
    storage.put(PROPERTIES_PATH, "".join(f"{name}={one}\n" for name, one in entries.items() if one).encode())


@BOTH_TYPES
@pytest.mark.parametrize("version", [9, 8])
@pytest.mark.requirements("COMPAT-008", "COMPAT-010", "SVC-006")
def test_a_planned_clustering_outlives_a_change(engine: Client, type: Type, version: int) -> None:
    """COMPAT-008: a table whose merge mode stays may have a planned clustering: its log files are left to it, and it is
    executed at the other version, with the same rows.
    """
    only_in_process(engine)
    table = written(type, 17 - version, ordering=("ts",), merge_mode="EVENT_TIME_ORDERING")
    planned = schedule_clustering(table, {})
    assert planned is not None
    rows = snapshot(storage := table.storage)
    migrated(version)(storage)
    assert versions(storage)[0] == version
    assert [found.requested for found in opened(storage).timeline.pending] == [planned]
    assert snapshot(storage) == rows
    execute_clustering(opened(storage, 11), planned)
    assert snapshot(storage) == rows


@BOTH_TYPES
@pytest.mark.requirements("COMPAT-008", "COMPAT-009")
def test_a_planned_clustering_blocks_another_merge_mode(engine: Client, type: Type) -> None:
    """COMPAT-009: a payload class becomes a merge mode. A planned clustering of a merge-on-read table would merge logs by the
    rules of the new version, so that the upgrade is refused; without logs it is made.
    """
    only_in_process(engine)
    table = with_payload(type, "PartialUpdateAvroPayload")
    planned = schedule_clustering(table, {})
    assert planned is not None
    rows = snapshot(storage := table.storage)
    if type == "MERGE_ON_READ":
        with pytest.raises(MigrationRefused, match="pending"):
            migrated(9)(storage)
        assert versions(storage)[0] == 8
        execute_clustering(opened(storage, 5), planned)
    migrated(9)(storage)
    assert versions(storage)[0] == 9
    assert snapshot(storage) == rows


@pytest.mark.parametrize("version", [9, 8])
@pytest.mark.requirements("COMPAT-009")
def test_a_planned_index_blocks_a_change(engine: Client, version: int) -> None:
    """COMPAT-009: an index whose build is planned would be built by the rules of another version: the change is refused."""
    only_in_process(engine)
    table = written("MERGE_ON_READ", 17 - version, ordering=("ts",), options={"hoodie.metadata.enable": "true"})
    assert schedule_indexing(table, {"hoodie.metadata.record.index.enable": "true"}) is not None
    with pytest.raises(MigrationRefused, match="pending"):
        migrated(version)(table.storage)
    assert versions(table.storage)[0] == 17 - version


@BOTH_TYPES
@pytest.mark.requirements("COMPAT-010", "PROP-025", "MRG-051")
def test_a_marker_other_than_that_of_the_class_is_carried_over(engine: Client, type: Type) -> None:
    """PROP-025: the payload class of before is information only. If its table has another delete marker since, a downgrade
    stores a class with that marker, by which rows are deleted.
    """
    only_in_process(engine)
    storage = with_payload(type, "AWSDmsAvroPayload").storage
    migrated(9, 5)(storage)
    set_entry(storage, f"{PREFIX}{MARKER}", "GONE")
    migrated(8)(storage)
    assert properties(storage)[MARKER] == "GONE"
    opened(storage, 11).upsert(as_rows(change("a", 20, "gone", kind="gone"), change("b", 20, "stays", kind="d")))
    names = {row["id"]: row["name"] for row in snapshot(storage)}
    assert ("a" in names, names["b"]) == (False, "stays")


@BOTH_TYPES
@pytest.mark.requirements("COMPAT-010", "PROP-025", "MRG-046")
def test_the_class_of_before_does_not_decide(engine: Client, type: Type) -> None:
    """PROP-025: a table that no longer fills columns is downgraded to a class that fills none, whatever its class was."""
    only_in_process(engine)
    storage = with_payload(type, "PartialUpdateAvroPayload").storage
    migrated(9, 5)(storage)
    set_entry(storage, PARTIAL, None)
    migrated(8)(storage)
    assert properties(storage)[PAYLOAD].endswith(".DefaultHoodieRecordPayload")
    opened(storage, 11).upsert(as_rows(change("a", 20, None)))
    assert {row["id"]: row["name"] for row in snapshot(storage)}["a"] is None


@pytest.mark.requirements("COMPAT-008", "PAY-024")
def test_the_marker_of_a_class_counts_before_that_of_the_table(engine: Client) -> None:
    """PAY-024: a class that has a delete marker of its own keeps it at version 9, whatever other marker the table has."""
    only_in_process(engine)
    storage = with_payload("COPY_ON_WRITE", "AWSDmsAvroPayload").storage
    set_entry(storage, "hoodie.payload.delete.field", "name")
    set_entry(storage, MARKER, "a4")
    rows = {row["id"] for row in snapshot(storage)}
    migrated(9)(storage)
    assert properties(storage)[f"{PREFIX}{MARKER}"] == "D"
    opened(storage, 11).upsert(as_rows(change("a", 20, "a4"), change("b", 20, "gone", kind="d")))
    assert {row["id"] for row in snapshot(storage)} == rows - {"b"}


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("debezium.PostgresDebeziumAvroPayload", {"hoodie.table.ordering.fields": "ts"}),
        ("debezium.MySqlDebeziumAvroPayload", {"hoodie.table.create.schema": '{"type"\\:"record","name"\\:"r","fields"\\:[]}'}),
        ("FirstValueAvroPayload", {PARTIAL: "IGNORE_DEFAULTS"}),
    ],
)
@pytest.mark.requirements("COMPAT-009", "COMPAT-010")
def test_a_table_that_no_class_describes_is_not_downgraded(engine: Client, name: str, changed: dict[str, str]) -> None:
    """COMPAT-010: no payload class of version 8 fills columns by another ordering field than its own, or below a payload class;
    and the ordering field of a class must be a column. The downgrade is refused, and the table stays at version 9.
    """
    only_in_process(engine)
    storage = with_payload("COPY_ON_WRITE", name, batches=0).storage
    migrated(9, 5)(storage)
    for key, value in changed.items():
        set_entry(storage, key, value)
    with pytest.raises(MigrationRefused):
        migrated(8)(storage)
    assert versions(storage)[0] == 9


@pytest.mark.parametrize("name", ["DefaultHoodieRecordPayload", "AWSDmsAvroPayload"])
@pytest.mark.requirements("COMPAT-010", "MRG-018")
def test_a_downgrade_stores_both_names_of_the_strategy(engine: Client, name: str) -> None:
    """COMPAT-010: a downgrade restores the strategy id under the names that releases of version 8 read."""
    only_in_process(engine)
    storage = with_payload("COPY_ON_WRITE", name).storage
    wanted = properties(storage)["hoodie.record.merge.strategy.id"]
    migrated(9, 5)(storage)
    migrated(8)(storage)
    names = ("hoodie.record.merge.strategy.id", "hoodie.compaction.record.merger.strategy")
    assert {properties(storage)[one] for one in names} == {wanted}


@pytest.mark.parametrize(
    ("name", "fields", "stored"),
    [
        ("AWSDmsAvroPayload", (), {}),
        (
            "debezium.MySqlDebeziumAvroPayload",
            ("ts",),
            {"hoodie.payload.delete.field": "_change_operation_type", MARKER: "d"},
        ),
    ],
)
@pytest.mark.requirements("MRG-045")
def test_a_class_that_means_something_else_is_refused(
    engine: Client, name: str, fields: tuple[str, ...], stored: dict[str, str]
) -> None:
    """MRG-045: a writer of a table of version 9 names a payload class that has the merge mode of the table, but another delete
    marker or other ordering fields: the write is refused.
    """
    only_in_process(engine)
    table = written("COPY_ON_WRITE", 9, ordering=fields, batches=1)
    for key, value in stored.items():
        set_entry(table.storage, f"{PREFIX}{key}", value)
    rows, options = snapshot(table.storage), {"hoodie.datasource.write.payload.class": f"{PACKAGE}{name}"}
    with pytest.raises(Misuse):
        open_table(URI, storage=table.storage, options=options).upsert(as_rows(change("a", 20, "other")))
    assert snapshot(table.storage) == rows
