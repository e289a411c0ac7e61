"""Tables of version 8 with a payload class that are upgraded to version 9: how they merge from then on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.custom_mergers import PACKAGE, PAYLOADS, stored_properties
from hudi_conformance.suite.support.tables.written_tables import Type

UNAVAILABLE = "__debezium_unavailable_value"
#: Columns of the tables: rows name some of them, and those that are not named are null.
COLUMNS = {"id": "string", "ts": "long", "a": "string", "b": "string", "_change_operation_type": "string", "Op": "string"}
TYPES = {"string": pa.string(), "long": pa.int64()}
Values = tuple[int, str | None, str | None]
Row = dict[str, Any]


@dataclass(frozen=True)
class Upgrade:
    """A class, the merge mode of its table at version 8, what version 9 stores, and rows that tell the merging apart.

    `stored` is a row of version 8, `incoming` one that is written after the upgrade; `right` are columns ts, a and b then.
    """

    mode: Any
    stores: Mapping[str, str | None]
    stored: Row
    incoming: Row
    right: Values | None
    ordering: str = "ts"
    columns: Mapping[str, str] = field(default_factory=lambda: COLUMNS)


def modes(mode: str, partial: str | None = None, **more: str) -> dict[str, str | None]:
    """Return the properties of a merge mode and a partial update mode."""
    return {"hoodie.record.merge.mode": mode, "hoodie.table.partial.update.mode": partial, **more}


STORED = {"ts": 2, "a": "A", "b": "B"}
LATE = {"ts": 1, "a": "late", "b": None}
LSN_COLUMNS = {"_event_lsn" if name == "ts" else name: kind for name, kind in COLUMNS.items()}
MARKER = "hoodie.record.merge.property.hoodie.payload.delete."
UPGRADES: Mapping[str, Upgrade] = {
    "OverwriteWithLatestAvroPayload": Upgrade(
        "COMMIT_TIME_ORDERING", modes("COMMIT_TIME_ORDERING"), STORED, LATE, (1, "late", None)
    ),
    "DefaultHoodieRecordPayload": Upgrade("EVENT_TIME_ORDERING", modes("EVENT_TIME_ORDERING"), STORED, LATE, (2, "A", "B")),
    "EventTimeAvroPayload": Upgrade("CUSTOM", modes("EVENT_TIME_ORDERING"), STORED, LATE, (2, "A", "B")),
    "OverwriteNonDefaultsWithLatestAvroPayload": Upgrade(
        "CUSTOM", modes("COMMIT_TIME_ORDERING", "IGNORE_DEFAULTS"), STORED, LATE, (1, "late", "B")
    ),
    "PartialUpdateAvroPayload": Upgrade(
        "CUSTOM", modes("EVENT_TIME_ORDERING", "IGNORE_DEFAULTS"), {"ts": 2, "a": "A"}, {"ts": 1, "a": "late", "b": "b"},
        (2, "A", "b"),
    ),
    "AWSDmsAvroPayload": Upgrade(
        "CUSTOM", modes("COMMIT_TIME_ORDERING", **{f"{MARKER}field": "Op", f"{MARKER}marker": "D"}), {**STORED, "Op": "I"},
        {**STORED, "ts": 3, "Op": "D"}, None,
    ),
    "debezium.PostgresDebeziumAvroPayload": Upgrade(
        "CUSTOM",
        modes("EVENT_TIME_ORDERING", "FILL_UNAVAILABLE",
              **{f"{MARKER}field": "_change_operation_type", f"{MARKER}marker": "d"}),
        {"_event_lsn": 2, "a": "A", "b": "B"}, {"_event_lsn": 3, "a": UNAVAILABLE, "b": None}, (3, "A", None),
        ordering="_event_lsn", columns=LSN_COLUMNS,
    ),
    "HoodieAvroPayload": Upgrade(
        "CUSTOM", modes("CUSTOM", **{"hoodie.compaction.payload.class": f"{PACKAGE}HoodieAvroPayload"}), STORED, LATE,
        (1, "late", None),
    ),
}  # fmt: skip


def write(engine: Client, uri: str, upgrade: Upgrade, *rows: Row) -> None:
    """Upsert rows."""
    schema = pa.schema([(name, TYPES[kind]) for name, kind in upgrade.columns.items()])
    engine.write(uri, "upsert", pa.Table.from_pylist(list(rows), schema=schema))


def rows_by_key(engine: Client, uri: str, upgrade: Upgrade) -> dict[str, Values]:
    """Return the ordering value and columns a and b of each key."""
    found = engine.read(uri, Query(columns=("id", upgrade.ordering, "a", "b"))).to_pylist()
    return {row["id"]: (row[upgrade.ordering], row["a"], row["b"]) for row in found}


@BOTH_TYPES
@pytest.mark.parametrize("name", UPGRADES)
@pytest.mark.versions(8, 9)
@pytest.mark.needs(
    "create", "create.table-version.9", "table-version.9", "write.upsert", "partition.none", "read.snapshot", "read.projection",
    "merge.event-time", "merge.commit-time", "merge.custom", "service.migrate",
)  # fmt: skip
@pytest.mark.requirements("COMPAT-008", "PROP-023", "PROP-024", "PROP-025", "PAY-024", "PAY-025", "PAY-026", "PAY-028")
def test_an_upgraded_table_merges_as_one_of_version_9(
    engine: Client, new_uri: Callable[[], str], type: Type, name: str
) -> None:
    """COMPAT-008: a table of version 8 with a payload class stores at version 9 what a new table of that class stores, keeps
    its rows, and merges later writes by it.
    """
    upgrade, uri = UPGRADES[name], new_uri()
    fields = [{"name": column, "type": ["null", kind], "default": None} for column, kind in upgrade.columns.items()]
    given = {"hoodie.compaction.payload.class": f"{PACKAGE}{name}"}
    if upgrade.mode == "CUSTOM":
        given["hoodie.record.merge.strategy.id"] = PAYLOADS
    schema = {"type": "record", "name": "merged", "namespace": "hoodie.merged", "fields": fields}
    spec = TableSpec("merged", type, schema, ("id",), ordering=(upgrade.ordering,), merge_mode=upgrade.mode, properties=given)
    engine.create(uri, spec)
    other = {"id": "other", upgrade.ordering: 1, "a": "a", "b": "b"}
    write(engine, uri, upgrade, {"id": "k", **upgrade.stored}, {**other, "a": "first"})
    write(engine, uri, upgrade, {**other, upgrade.ordering: 2})
    before = rows_by_key(engine, uri, upgrade)
    assert before["other"] == (2, "a", "b")
    engine.service(uri, "migrate", options={"hoodie.write.table.version": "9"})
    found = stored_properties(uri)
    assert found["hoodie.table.version"] == "9"
    assert {key: found.get(key) for key in upgrade.stores} == dict(upgrade.stores)
    assert rows_by_key(engine, uri, upgrade) == before
    write(engine, uri, upgrade, {"id": "k", **upgrade.incoming})
    after = rows_by_key(engine, uri, upgrade)
    assert after == ({"other": (2, "a", "b")} if upgrade.right is None else {"k": upgrade.right, "other": (2, "a", "b")})
