"""Tables with invalid settings of merging, and queries for columns or times that do not exist: each is an error that names the
setting or the value.

An engine writes a valid table; then the test changes its properties. No other rule of merging may replace one that is missing,
unknown or contradicted.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.contract.messages import Query
from hudi_conformance.suite.support.tables.custom_mergers import NEW, OLD, PACKAGE, PAYLOADS, UNKNOWN, Rule, stored_properties
from hudi_conformance.suite.support.tables.written_tables import completion_time, table_folder

MODE, STRATEGY, CLASS = "hoodie.record.merge.mode", "hoodie.record.merge.strategy.id", "hoodie.compaction.payload.class"
EVENT_TIME, COMMIT_TIME = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5", "ce9acb64-bde0-424c-9b91-f6ebba25356d"
NEEDS = ("create", "write.upsert", "read.snapshot", "merge-on-read", "merge.event-time", "partition.none")
RULE = Rule({}, mode="EVENT_TIME_ORDERING")
FLAGGED = Rule({}, (("ts", "long"), ("name", "string"), ("_hoodie_is_deleted", "boolean")), mode="EVENT_TIME_ORDERING")
Entries = Mapping[str, str | None]


def write_and_read(engine: Client, uri: str, rule: Rule = RULE, *inputs: pa.Table) -> list[str]:
    """Write a merge-on-read table of one file group, with a base file and a log, and read it; return the instants."""
    engine.create(uri, rule.spec("MERGE_ON_READ"))
    given = inputs or (rule.rows([("1", NEW)]), rule.rows([("1", OLD)]))
    instants = [engine.write(uri, "upsert", rows) for rows in given]
    assert engine.read(uri, Query()).num_rows > 0, "the unchanged table has no rows"
    return instants


def change_properties(uri: str, entries: Entries) -> None:
    """Change properties of the table; None removes one."""
    path = table_folder(uri) / ".hoodie" / "hoodie.properties"
    found = {**stored_properties(uri), **entries}
    path.write_text("".join(f"{key}={json.dumps(value)[1:-1]}\n" for key, value in found.items() if value is not None))
    (path.parent / ".hoodie.properties.crc").unlink(missing_ok=True)


def ordering_entries(field: str) -> Entries:
    """Return the entries that set the ordering field, under its older and its newer name: the one that the engine wrote is
    replaced.
    """
    return {"hoodie.table.precombine.field": field, "hoodie.table.ordering.fields": field}


#: What is wrong -> the entries with that error, and a word that the message must contain.
CONTRADICTIONS: Mapping[str, tuple[Entries, str]] = {
    "unknown mode": ({MODE: "LATEST", STRATEGY: None, CLASS: None}, "LATEST"),
    "unknown mode beside a strategy": ({MODE: "LATEST", STRATEGY: EVENT_TIME, CLASS: None}, "LATEST"),
    "mode of another class": (
        {MODE: "COMMIT_TIME_ORDERING", STRATEGY: None, CLASS: f"{PACKAGE}DefaultHoodieRecordPayload"},
        "COMMIT_TIME_ORDERING",
    ),
    "mode of another strategy": ({MODE: "EVENT_TIME_ORDERING", STRATEGY: COMMIT_TIME, CLASS: None}, "EVENT_TIME_ORDERING"),
    "strategy of another class": (
        {MODE: None, STRATEGY: COMMIT_TIME, CLASS: f"{PACKAGE}DefaultHoodieRecordPayload"},
        "DefaultHoodieRecordPayload",
    ),
    "custom, and no more": ({MODE: "CUSTOM", STRATEGY: None, CLASS: None}, "(?i)strategy"),
    "a payload class that is not named": ({MODE: "CUSTOM", STRATEGY: PAYLOADS, CLASS: None}, "(?i)class"),
    "unknown payload class": ({MODE: "CUSTOM", STRATEGY: PAYLOADS, CLASS: "org.example.NoSuchPayload"}, "NoSuchPayload"),
    "unknown merger": ({MODE: "CUSTOM", STRATEGY: UNKNOWN, CLASS: None}, UNKNOWN),
    "ordering field that the table lacks": (ordering_entries("happened_at"), "happened_at"),
}


@pytest.mark.needs(*NEEDS)
@pytest.mark.requirements("MRG-016", "MRG-021", "MRG-031", "MRG-035", "PAY-002", "API-008")
@pytest.mark.parametrize("name", CONTRADICTIONS)
@pytest.mark.leaves_damage("it edits the properties")
@pytest.mark.versions(8)
def test_invalid_settings_of_merging_are_an_error(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """PAY-002: with unknown, contradicted or missing settings of merging no row is returned, and the message names
    the setting.
    """
    uri, (entries, says) = new_uri(), CONTRADICTIONS[name]
    write_and_read(engine, uri)
    change_properties(uri, entries)
    with pytest.raises(ContractError, match=says):
        engine.read(uri, Query())


@pytest.mark.needs(*NEEDS, "write.delete", "delete.flag")
@pytest.mark.leaves_damage("its versions cannot be compared")
@pytest.mark.requirements("MRG-028", "LF-041")
def test_ordering_values_of_two_types_are_an_error(engine: Client, new_uri: Callable[[], str]) -> None:
    """LF-041: a delete has a number as its ordering value, a row has a text: they cannot be compared."""
    uri = new_uri()
    inputs = [[("1", (1, "a", False)), ("2", (1, "a", False))], [("1", (5, "b", True))], [("1", (6, "c", False))]]
    write_and_read(engine, uri, FLAGGED, *map(FLAGGED.rows, inputs))
    change_properties(uri, ordering_entries("name"))
    with pytest.raises(ContractError):
        engine.read(uri, Query())


@pytest.mark.needs(*NEEDS, "read.projection")
@pytest.mark.requirements("MRG-028")
@pytest.mark.parametrize(("kind", "value"), [("string", "true"), ("long", 1)])
def test_only_a_truth_value_marks_a_delete(engine: Client, new_uri: Callable[[], str], kind: str, value: Any) -> None:
    """MRG-028: a column of another type that has the name of the delete flag marks no row: all rows are stored and returned."""
    uri, columns = new_uri(), ("ts", "name", "_hoodie_is_deleted")
    rule = Rule({}, tuple(zip(columns, ("long", "string", kind), strict=True)), mode="EVENT_TIME_ORDERING")
    states = [{"1": (1, "first", value), "2": (1, "first", value)}, {"1": (2, "second", value), "3": (1, "new", value)}]
    write_and_read(engine, uri, rule, *(rule.rows(list(rows.items())) for rows in states))
    found = [tuple(one.values()) for one in engine.read(uri, Query(columns=("id", *columns))).to_pylist()]
    assert {key: values for key, *values in found} == {key: list(values) for key, values in (states[0] | states[1]).items()}


@pytest.mark.needs(*NEEDS, "write.partial-update", "merge.partial-updates")
@pytest.mark.requirements("LF-045", "API-013")
@pytest.mark.leaves_damage("it edits the properties")
@pytest.mark.parametrize(
    "entries",
    [
        {"hoodie.populate.meta.fields": "false"},
        {MODE: "CUSTOM", STRATEGY: PAYLOADS, CLASS: f"{PACKAGE}PartialUpdateAvroPayload"},
    ],
    ids=["no keys in its rows", "a payload class"],
)
def test_partial_rows_in_an_unsuitable_table_are_an_error(engine: Client, new_uri: Callable[[], str], entries: Entries) -> None:
    """LF-045: a block of partial rows is not completed by guessing if the settings do not define how these rows are merged."""
    uri = new_uri()
    write_and_read(engine, uri)
    engine.write(uri, "partial_update", pa.table({"id": ["1"], "ts": pa.array([9], pa.int64()), "name": ["partly"]}))
    change_properties(uri, entries)
    with pytest.raises(ContractError):
        engine.read(uri, Query())


@pytest.mark.needs(*NEEDS, "read.projection", "read.filter")
@pytest.mark.requirements("TYP-007", "MRG-015")
@pytest.mark.parametrize(
    "query", [Query(columns=("id", "nothing")), Query(where=(("nothing", "=", 1),))], ids=["asked for", "compared"]
)
def test_an_unknown_column_is_an_error(engine: Client, new_uri: Callable[[], str], query: Query) -> None:
    """MRG-015: an unknown column is neither null nor ignored."""
    uri = new_uri()
    write_and_read(engine, uri)
    with pytest.raises(ContractError, match="nothing"):
        engine.read(uri, query)


@pytest.mark.needs(*NEEDS, "read.incremental")
@pytest.mark.requirements("TYP-009")
def test_a_window_that_ends_before_it_begins_is_an_error(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-009: a window with exchanged bounds is an error, not an empty window."""
    uri = new_uri()
    first, last = (completion_time(uri, instant) for instant in write_and_read(engine, uri))
    assert engine.read(uri, Query("incremental", begin=first, end=last)).num_rows == 1
    with pytest.raises(ContractError):
        engine.read(uri, Query("incremental", begin=last, end=first))


@pytest.mark.needs(*NEEDS, "read.incremental", "service.compaction", "service.clean")
@pytest.mark.requirements("TYP-009", "CLN-003")
def test_a_cleaned_window_is_an_error(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-003: a past window whose files were deleted is refused, not answered from the remaining files."""
    uri, due = new_uri(), {"hoodie.compact.inline.max.delta.commits": "1"}
    rounds = [RULE.rows([("1", (ts, "n", "p"))]) for ts in range(1, 5)]
    first, second = write_and_read(engine, uri, RULE, *rounds[:2])
    begin, end = completion_time(uri, first), completion_time(uri, second)
    for rows in rounds[2:]:
        engine.service(uri, "compaction", options=due)
        engine.write(uri, "upsert", rows)
    engine.service(uri, "compaction", options=due)
    assert engine.read(uri, Query("incremental", begin=begin, end=end)).num_rows == 1
    engine.service(uri, "clean", options={"hoodie.clean.policy": "KEEP_LATEST_COMMITS", "hoodie.clean.commits.retained": "1"})
    with pytest.raises(ContractError):
        engine.read(uri, Query("incremental", begin=begin, end=end))


@pytest.mark.needs(*NEEDS, "read.as-of")
@pytest.mark.requirements("TYP-008")
def test_a_time_before_the_first_write_has_no_rows(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-008: a time before the first write is refused, or gives the columns of the table and no row."""
    uri = new_uri()
    write_and_read(engine, uri)
    try:
        found = engine.read(uri, Query("as-of", as_of="20000101000000000"))
    except ContractError:
        return
    assert found.num_rows == 0
    assert {"id", "ts", "name", "price"} <= set(found.column_names)


@pytest.mark.needs(*NEEDS, "read.as-of")
@pytest.mark.requirements("TYP-008")
@pytest.mark.parametrize("time", ["now", "2026", "2026-13-01", "2026-01-01 25:00:00", "yesterday noon"])
def test_an_invalid_time_is_an_error(engine: Client, new_uri: Callable[[], str], time: Any) -> None:
    """TYP-008: a text that is no time is refused, and not taken for the beginning or the end."""
    uri = new_uri()
    write_and_read(engine, uri)
    with pytest.raises(ContractError):
        engine.read(uri, Query("as-of", as_of=time))
