"""Tables of version 8 with a payload class that are upgraded to version 9: how they merge from then on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.custom_mergers import PACKAGE, PAYLOADS, Rule, Values, stored_properties
from hudi_conformance.suite.support.tables.written_tables import Type

UNAVAILABLE = "__debezium_unavailable_value"
MARKER = "hoodie.record.merge.property.hoodie.payload.delete."
COLUMNS = (("ts", "long"), ("a", "string"), ("b", "string"), ("operation", "string"))
STORED, LATE = (2, "A", "B", None), (1, "late", None, None)


def columns(ordering: str, operation: str) -> tuple[tuple[str, str], ...]:
    """Return the columns of a table whose class wants names of its own for the ordering value and for the operation."""
    return ((ordering, "long"), *COLUMNS[1:3], (operation, "string"))


@dataclass(frozen=True)
class Upgrade:
    """A class, the merge mode of its table at version 8, what version 9 stores, and rows that tell the merging apart.

    `stored` is a row of version 8, `incoming` one that is written after the upgrade, and `right` is the merged row.
    """

    mode: str
    stores: Mapping[str, str | None]
    stored: Values
    incoming: Values
    right: Values | None
    columns: tuple[tuple[str, str], ...] = COLUMNS

    def rule(self, name: str) -> Rule:
        """Return how a table with the class `name` merges at version 8."""
        properties = {"hoodie.compaction.payload.class": PACKAGE + name}
        if self.mode == "CUSTOM":
            properties["hoodie.record.merge.strategy.id"] = PAYLOADS
        return Rule(properties, self.columns, self.mode)


def modes(mode: str, partial: str | None = None, **more: str) -> dict[str, str | None]:
    """Return the properties of a merge mode and a partial update mode."""
    return {"hoodie.record.merge.mode": mode, "hoodie.table.partial.update.mode": partial, **more}


UPGRADES: Mapping[str, Upgrade] = {
    "OverwriteWithLatestAvroPayload": Upgrade("COMMIT_TIME_ORDERING", modes("COMMIT_TIME_ORDERING"), STORED, LATE, LATE),
    "DefaultHoodieRecordPayload": Upgrade("EVENT_TIME_ORDERING", modes("EVENT_TIME_ORDERING"), STORED, LATE, STORED),
    "EventTimeAvroPayload": Upgrade("CUSTOM", modes("EVENT_TIME_ORDERING"), STORED, LATE, STORED),
    "OverwriteNonDefaultsWithLatestAvroPayload": Upgrade(
        "CUSTOM", modes("COMMIT_TIME_ORDERING", "IGNORE_DEFAULTS"), STORED, LATE, (1, "late", "B", None)
    ),
    "PartialUpdateAvroPayload": Upgrade(
        "CUSTOM", modes("EVENT_TIME_ORDERING", "IGNORE_DEFAULTS"), (2, "A", None, None), (1, "late", "b", None),
        (2, "A", "b", None),
    ),
    "AWSDmsAvroPayload": Upgrade(
        "CUSTOM", modes("COMMIT_TIME_ORDERING", **{f"{MARKER}field": "Op", f"{MARKER}marker": "D"}), (2, "A", "B", "I"),
        (3, "A", "B", "D"), None, columns("ts", "Op"),
    ),
    "debezium.PostgresDebeziumAvroPayload": Upgrade(
        "CUSTOM",
        modes("EVENT_TIME_ORDERING", "FILL_UNAVAILABLE",
              **{f"{MARKER}field": "_change_operation_type", f"{MARKER}marker": "d"}),
        (2, "A", None, None), (3, UNAVAILABLE, None, None), (3, "A", None, None),
        columns("_event_lsn", "_change_operation_type"),
    ),
    "HoodieAvroPayload": Upgrade(
        "CUSTOM", modes("CUSTOM", **{"hoodie.compaction.payload.class": f"{PACKAGE}HoodieAvroPayload"}), STORED, LATE, LATE
    ),
}  # fmt: skip


@BOTH_TYPES
@pytest.mark.parametrize("name", UPGRADES)
@pytest.mark.versions(8, 9)
@pytest.mark.needs(
    "create", "create.table-version.9", "table-version.9", "write.upsert", "partition.none", "read.snapshot", "read.projection",
    "merge.event-time", "merge.commit-time", "merge.custom", "service.migrate", "service.compaction",
)  # fmt: skip
@pytest.mark.requirements(
    "COMPAT-008", "PROP-023", "PROP-024", "PROP-025", "PAY-024", "PAY-025", "PAY-026", "PAY-028", "MRG-042", "MRG-048"
)
def test_an_upgraded_table_merges_as_one_of_version_9(
    engine: Client, new_uri: Callable[[], str], type: Type, name: str
) -> None:
    """COMPAT-008: a table of version 8 with a payload class stores at version 9 what a new table of that class stores, keeps
    its rows, and merges later writes by it, when it is read and in a compaction.
    """
    upgrade, uri = UPGRADES[name], new_uri()
    rule = upgrade.rule(name)
    engine.create(uri, rule.spec(type))

    def upsert(**rows: Values) -> None:
        engine.write(uri, "upsert", rule.rows(list(rows.items())))

    def rows() -> dict[str, Values]:
        found = engine.read(uri, Query(columns=("id", *dict(upgrade.columns)))).to_pylist()
        return {key: tuple(values) for key, *values in (row.values() for row in found)}

    upsert(k=upgrade.stored, other=(1, "first", "b", None))
    upsert(other=(2, "a", "b", None))
    before = {"k": upgrade.stored, "other": (2, "a", "b", None)}
    assert rows() == before
    engine.service(uri, "migrate", options={"hoodie.write.table.version": "9"})
    found = stored_properties(uri)
    assert found["hoodie.table.version"] == "9"
    assert {key: found.get(key) for key in upgrade.stores} == dict(upgrade.stores)
    if "hoodie.compaction.payload.class" not in upgrade.stores:
        assert found["hoodie.table.legacy.payload.class"] == PACKAGE + name
    assert rows() == before
    upsert(k=upgrade.incoming)
    after = {**before, "k": upgrade.right}
    right = {key: values for key, values in after.items() if values is not None}
    assert rows() == right
    if type == "MERGE_ON_READ":
        engine.service(uri, "compaction", phase="run")
        assert rows() == right
