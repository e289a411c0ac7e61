"""The decision tables, written and read by one engine: every pair of versions, at every stage of merging.

Each record represents one cell of a table, and its key names the cell. A table is created with only its merge mode and ordering
field. The expected results are written down here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product
from typing import Any, Literal

import pyarrow as pa
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.contract.messages import Query, TableSpec

Mode = Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"]
EVENT: Mode = "EVENT_TIME_ORDERING"
COMMIT: Mode = "COMMIT_TIME_ORDERING"
NEEDS = ("create", "write.upsert", "read.snapshot", "merge-on-read", "copy-on-write", "partition.none", "delete.flag",
         "merge.event-time", "merge.commit-time")  # fmt: skip
ARROW = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("name", pa.string()), ("_hoodie_is_deleted", pa.bool_())])
AVRO = {"type": "record", "name": "cells", "fields": [
    {"name": "id", "type": "string"},
    *({"name": name, "type": ["null", kind], "default": None}
      for name, kind in (("ts", "long"), ("name", "string"), ("_hoodie_is_deleted", "boolean"))),
]}  # fmt: skip
#: Settings under which services are due at once.
DUE = {"hoodie.compact.inline.max.delta.commits": "1", "hoodie.log.compaction.blocks.threshold": "1"}

Version = tuple[str, int, str]
Rows = dict[str, tuple[int, str]]

#: Older and newer version -> the remaining row if the newer ordering value is lower, equal, greater.
EVENT_TIME = {
    ("row", "row"): ("older", "newer", "newer"),
    ("row", "delete"): ("older", None, None),
    ("row", "key-delete"): (None, None, None),
    ("delete", "row"): (None, "newer", "newer"),
    ("delete", "delete"): (None, None, None),
    ("delete", "key-delete"): (None, None, None),
}
#: If the older version is in no log, a delete leaves no ordering value with which a later row could be compared.
FORGETFUL = EVENT_TIME | {("delete", "row"): ("newer", "newer", "newer")}
COMMIT_TIME = {pair: ("newer" if pair[1] == "row" else None,) * 3 for pair in EVENT_TIME}
OLDER, NEWER = 20, {"lower": 10, "equal": 20, "greater": 30}


def create_table(engine: Client, uri: str, kind: str, mode: Mode) -> None:
    """Create a table with a merge mode, and no other setting of merging."""
    engine.create(
        uri,
        TableSpec(
            name="cells", type=kind, schema=AVRO, record_key=("id",), ordering=("ts",), merge_mode=mode,  # type: ignore[arg-type]
        ),
    )  # fmt: skip


def upsert_versions(engine: Client, uri: str, versions: Mapping[str, Version] | Sequence[tuple[str, Version]]) -> None:
    """Write one input of versions, by key."""
    pairs = list(versions.items() if isinstance(versions, Mapping) else versions)
    rows = [{"id": key, "ts": ts, "name": name, "_hoodie_is_deleted": kind == "delete"} for key, (kind, ts, name) in pairs]
    engine.write(uri, "upsert", pa.Table.from_pylist(rows, schema=ARROW))


def write_versions(engine: Client, uri: str, versions: Mapping[str, Version]) -> None:
    """Write the rows and flagged deletes, then delete the keys that are deleted by key."""
    upsert_versions(engine, uri, {key: version for key, version in versions.items() if version[0] != "key-delete"})
    keys = [key for key, version in versions.items() if version[0] == "key-delete"]
    if keys:
        engine.write(uri, "delete", pa.Table.from_pylist([{"id": key} for key in keys], schema=KEYS))


KEYS = pa.schema([("id", pa.string())])


def read_rows(engine: Client, uri: str) -> Rows:
    """Return ordering value and name by key; a key that occurs twice fails."""
    rows = engine.read(uri, Query(columns=("id", "ts", "name"))).to_pylist()
    assert len({row["id"] for row in rows}) == len(rows), "a key occurs twice"
    return {row["id"]: (row["ts"], row["name"]) for row in rows}


def list_cells() -> Iterator[tuple[str, str, str, str]]:
    """Yield key, older and newer kind, order."""
    for older, newer in EVENT_TIME:
        for order in NEWER:
            yield f"{older}-{newer}-{order}", older, newer, order


def expected_rows(table: Mapping[tuple[str, str], Sequence[str | None]]) -> Rows:
    """Return the expected rows."""
    found: Rows = {}
    for key, older, newer, order in list_cells():
        left = dict(zip(NEWER, table[older, newer], strict=True))[order]
        if left is not None:
            found[key] = (OLDER if left == "older" else NEWER[order], left)
    return found


@pytest.mark.needs(*NEEDS, "write.delete")
@pytest.mark.requirements(
    "MRG-001", "MRG-005", "MRG-008", "MRG-009", "MRG-010", "MRG-013", "MRG-016", "MRG-023", "MRG-025", "MRG-027", "MRG-028",
    "MRG-029",
)  # fmt: skip
@pytest.mark.parametrize(
    "arrangement",
    [
        "copy-on-write",
        "merge-on-read",
        pytest.param("compaction", marks=pytest.mark.needs("service.compaction")),
        pytest.param("log-compaction", marks=pytest.mark.needs("service.log-compaction")),
    ],
)
@pytest.mark.parametrize("mode", [EVENT, COMMIT])
def test_every_pair_of_versions(engine: Client, new_uri: Callable[[], str], mode: Mode, arrangement: str) -> None:
    """MRG-008: queries, writers and services return the row that the decision table has for each pair of versions over an older
    base row.
    """
    uri, kind = new_uri(), "COPY_ON_WRITE" if arrangement == "copy-on-write" else "MERGE_ON_READ"
    create_table(engine, uri, kind, mode)
    upsert_versions(engine, uri, {key: ("row", 1, "base") for key, *_ in list_cells()})
    write_versions(engine, uri, {key: (older, OLDER, "older") for key, older, _, _ in list_cells()})
    write_versions(engine, uri, {key: (newer, NEWER[order], "newer") for key, _, newer, order in list_cells()})
    if kind != arrangement.upper().replace("-", "_"):
        assert engine.service(uri, arrangement, options=DUE) is not None  # type: ignore[arg-type]
    table = COMMIT_TIME if mode == COMMIT else FORGETFUL if arrangement == "copy-on-write" else EVENT_TIME
    assert read_rows(engine, uri) == expected_rows(table)


@pytest.mark.needs(*NEEDS)
@pytest.mark.requirements("MRG-008", "MRG-011", "MRG-005", "MRG-028", "MRG-029")
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_two_versions_in_one_input(engine: Client, new_uri: Callable[[], str], kind: str) -> None:
    """MRG-028: in event-time mode an input is combined by the same rule: the greater of different ordering values wins."""
    uri, pairs = new_uri(), [cell for cell in list_cells() if cell[3] != "equal" and "key-delete" not in cell[1:3]]
    create_table(engine, uri, kind, EVENT)
    upsert_versions(engine, uri, {key: ("row", 1, "base") for key, *_ in pairs})
    batch = [(key, (older, OLDER, "older")) for key, older, _, _ in pairs]
    batch += [(key, (newer, NEWER[order], "newer")) for key, _, newer, order in pairs]
    upsert_versions(engine, uri, batch)
    keys = {key for key, *_ in pairs}
    assert read_rows(engine, uri) == {key: row for key, row in expected_rows(EVENT_TIME).items() if key in keys}


#: Three versions with different ordering values, in every order of arrival, each a row or a delete.
TRIPLES: dict[str, tuple[Version, ...]] = {
    "-".join(f"{kind[0]}{ts}" for kind, ts in zip(kinds, order, strict=True)): tuple(
        (kind, ts, f"version {ts}") for kind, ts in zip(kinds, order, strict=True)
    )
    for order in permutations((10, 20, 30))
    for kinds in product(("row", "delete"), repeat=3)
}
#: The versions that one input holds, by their positions.
GROUPINGS: dict[str, tuple[tuple[int, ...], ...]] = {
    "one by one": ((0,), (1,), (2,)),
    "first two together": ((0, 1), (2,)),
    "last two together": ((0,), (1, 2)),
    "all together": ((0, 1, 2),),
}


@pytest.mark.needs(*NEEDS)
@pytest.mark.requirements("MRG-003", "MRG-030", "MRG-028", "MRG-029")
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_order_and_grouping_of_event_times_do_not_matter(engine: Client, new_uri: Callable[[], str], grouping: str) -> None:
    """MRG-028: in event-time mode three versions arrive in any order, in one input or several: the greatest one, a row or a
    delete, wins.
    """
    uri = new_uri()
    create_table(engine, uri, "MERGE_ON_READ", EVENT)
    upsert_versions(engine, uri, dict.fromkeys(TRIPLES, ("row", 1, "base")))
    for places in GROUPINGS[grouping]:
        upsert_versions(engine, uri, [(key, versions[place]) for key, versions in TRIPLES.items() for place in places])
    greatest = {key: max(versions, key=lambda version: version[1]) for key, versions in TRIPLES.items()}
    assert read_rows(engine, uri) == {key: (ts, name) for key, (kind, ts, name) in greatest.items() if kind == "row"}


@pytest.mark.needs(*NEEDS, "service.compaction")
@pytest.mark.requirements("MRG-003", "MRG-013", "MRG-008", "MRG-030")
@pytest.mark.parametrize("after", [0, 1, 2])
def test_compactions_do_not_change_merged_rows(engine: Client, new_uri: Callable[[], str], after: int) -> None:
    """MRG-013: in event-time mode without deletes, a compaction after any of three writes changes nothing; of equal values the
    later one wins.
    """
    uri = new_uri()
    triples: dict[str, tuple[int, ...]] = {"-".join(map(str, ts)): ts for ts in product((10, 20, 30), repeat=3)}
    create_table(engine, uri, "MERGE_ON_READ", EVENT)
    upsert_versions(engine, uri, dict.fromkeys(triples, ("row", 1, "base")))
    for place in range(3):
        upsert_versions(engine, uri, {key: ("row", ts[place], f"write {place}") for key, ts in triples.items()})
        if place == after:
            assert engine.service(uri, "compaction", options=DUE) is not None
    left: dict[str, Any] = {key: max((ts, place) for place, ts in enumerate(found)) for key, found in triples.items()}
    assert read_rows(engine, uri) == {key: (ts, f"write {place}") for key, (ts, place) in left.items()}


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "merge-on-read", "copy-on-write", "merge.event-time")
@pytest.mark.requirements("MRG-005")
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_every_input_is_merged_with_stored_rows(engine: Client, new_uri: Callable[[], str], kind: str) -> None:
    """MRG-005: inputs of one row and of many, of known and of new keys, of a repeated key: there are as many rows as keys."""
    uri = new_uri()
    create_table(engine, uri, kind, EVENT)
    upsert_versions(engine, uri, {str(number): ("row", 1, "first") for number in range(5)})
    upsert_versions(engine, uri, {"3": ("row", 2, "alone")})
    upsert_versions(engine, uri, [("3", ("row", 3, "twice")), ("3", ("row", 4, "twice")), ("5", ("row", 1, "new"))])
    upsert_versions(engine, uri, {str(number): ("row", 5, "many") for number in range(50)})
    assert read_rows(engine, uri) == {str(number): (5, "many") for number in range(50)}


@pytest.mark.needs("create", "copy-on-write")
@pytest.mark.requirements("MRG-016")
@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERINGS", "LATEST"])
def test_an_unknown_merge_mode_is_refused(engine: Client, new_uri: Callable[[], str], mode: str) -> None:
    """MRG-016: a table with a mode other than the three is not created; with one of the three it is."""
    spec = TableSpec(
        name="cells", type="COPY_ON_WRITE", schema=AVRO, record_key=("id",), ordering=("ts",),
        properties={"hoodie.record.merge.mode": mode},
    )  # fmt: skip
    with pytest.raises(ContractError):
        engine.create(new_uri(), spec)
    engine.create(new_uri(), replace(spec, properties={"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}))


@pytest.mark.versions(8)
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "merge-on-read", "copy-on-write", "merge.event-time")
@pytest.mark.needs("partition.none", "service.compaction")
@pytest.mark.requirements("MRG-051", "PROP-024")
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_delete_marker_with_the_prefix_at_version_8(engine: Client, new_uri: Callable[[], str], kind: str) -> None:
    """MRG-051: a table of version 8 may store its delete marker with the prefix of merge properties. A writer without settings
    of its own follows it: marked rows of known keys are deletes by their ordering values, and those of new keys are no records.
    """
    uri, prefix = new_uri(), "hoodie.record.merge.property.hoodie.payload.delete."
    properties = {f"{prefix}field": "name", f"{prefix}marker": "GONE"}
    spec = TableSpec("cells", kind, AVRO, ("id",), ordering=("ts",), merge_mode=EVENT, properties=properties)  # type: ignore[arg-type]
    engine.create(uri, spec)
    upsert_versions(engine, uri, dict.fromkeys(("greater", "lower", "other"), ("row", 20, "older")))
    changes = {"greater": 30, "lower": 10, "new": 30}
    upsert_versions(engine, uri, {key: ("row", ts, "GONE") for key, ts in changes.items()} | {"other": ("row", 30, "gone")})
    right = {"lower": (20, "older"), "other": (30, "gone")}
    assert read_rows(engine, uri) == right
    if kind == "MERGE_ON_READ":
        engine.service(uri, "compaction", options=DUE)
        assert read_rows(engine, uri) == right


#: A type of column, the text of the delete marker, the value that is marked, and another value.
MARKERS = {
    "a boolean": ("boolean", pa.bool_(), "true", True, False),
    "a number": ("int", pa.int32(), "0", 0, 1),
    "a negative number": ("long", pa.int64(), "-1", -1, 1),
    "a text": ("string", pa.string(), "D", "D", "d"),
}


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "merge-on-read", "copy-on-write")
@pytest.mark.needs("merge.event-time", "partition.none")
@pytest.mark.requirements("MRG-001", "MRG-014", "PAY-024")
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("name", MARKERS)
def test_a_delete_marker_is_the_text_of_a_value(engine: Client, new_uri: Callable[[], str], kind: str, name: str) -> None:
    """MRG-014: the delete marker of a table is a text. A row is a delete if the value in the column has this text: `true` for a
    boolean, the digits of a number.
    """
    uri, (avro, arrow, marker, marked, other) = new_uri(), MARKERS[name]
    fields = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"},
              {"name": "gone", "type": ["null", avro], "default": None}]  # fmt: skip
    schema = {"type": "record", "name": "marked", "fields": fields}
    properties = {"hoodie.payload.delete.field": "gone", "hoodie.payload.delete.marker": marker}
    engine.create(uri, TableSpec("marked", kind, schema, ("id",), ordering=("ts",), merge_mode=EVENT, properties=properties))  # type: ignore[arg-type]
    kinds = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("gone", arrow)])

    def upsert(rows: dict[str, tuple[int, Any]]) -> None:
        given = [{"id": key, "ts": ts, "gone": value} for key, (ts, value) in rows.items()]
        engine.write(uri, "upsert", pa.Table.from_pylist(given, kinds))

    upsert(dict.fromkeys(("marked", "other", "null", "late"), (2, other)))
    upsert({"marked": (3, marked), "other": (3, other), "null": (3, None), "late": (1, marked)})
    found = engine.read(uri, Query(columns=("id", "ts"))).to_pylist()
    assert {one["id"]: one["ts"] for one in found} == {"other": 3, "null": 3, "late": 2}
