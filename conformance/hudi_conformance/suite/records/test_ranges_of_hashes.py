"""Consistent hashing: the stored ranges of hashes, keys of several fields, and ranges that do not cover all hashes."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import xxhash

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.programs.write_programs import SCHEMA, Program, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.written_tables import data_files, table_folder

NewUri = Callable[[], str]
RANGES: Mapping[str, str] = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4",
                             "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}  # fmt: skip
#: The file groups of four ranges in the partition x, as the classes of Apache Hudi 1.0.2 name them, and where the ranges end.
GROUPS = ("6b1b8823-089f-30f7-9d40-ca5aa7e1a38a", "51af483f-fad2-322e-936f-62fa509b3513",
          "d82fa86c-0779-31a8-9951-354669461166", "f2f913ca-3b63-3359-8eb4-db4ace29a409")  # fmt: skip
ENDS = (536_870_912, 1_073_741_824, 1_610_612_736, 2_147_483_647)
#: The range of the hash of each key, by the same classes.
RANGE_OF = {"a": 2, "b": 1, "c": 3, "d": 2, "e": 3, "f": 3, "g": 2}
HASHED = pytest.mark.needs("create", "write.upsert", "write.bucket-index", "read.snapshot", "read.projection", "merge-on-read",
                           "partition.plain", "merge.event-time", "log.only-slices")  # fmt: skip
ROWS = tuple(row(key, 1, "first", "x") for key in RANGE_OF)


def metadata_file(uri: str) -> Path:
    """Return the first hashing metadata of the partition x."""
    folder = table_folder(uri) / ".hoodie" / ".bucket_index" / "consistent_hashing_metadata" / "x"
    return folder / "00000000000000.hashing_meta"


def store_ranges(uri: str, ends: tuple[int, ...], tag: str = "NORMAL") -> None:
    """Store hashing metadata with the first ids for ranges that end there; `tag` is that of the last range."""
    nodes = [{"value": end, "fileIdPrefix": one, "tag": "NORMAL"} for end, one in zip(ends, GROUPS, strict=False)]
    nodes[-1]["tag"] = tag
    content = {"version": 0, "partitionPath": "x", "instant": "00000000000000", "numBuckets": len(nodes), "seqNo": 0}
    metadata_file(uri).parent.mkdir(parents=True)
    metadata_file(uri).write_text(json.dumps({**content, "nodes": nodes}))


def keys_by_group(engine: Client, uri: str) -> dict[str, set[str]]:
    """Return the record keys that a snapshot finds in each file group, by the beginning of its id."""
    found: dict[str, set[str]] = {}
    for one in engine.read(uri, Query(columns=("id", "_hoodie_file_name"))).to_pylist():
        found.setdefault(one["_hoodie_file_name"].lstrip(".")[:36], set()).add(one["id"])
    return found


@HASHED
@pytest.mark.requirements("LAY-021", "MRG-007")
def test_hashing_metadata_lists_equal_ranges(engine: Client, new_uri: NewUri) -> None:
    """LAY-021: the first write to a partition stores its ranges: as many as there are buckets, equally long, each with the
    beginning of a file id. Other engines find the keys by them.
    """
    uri = new_uri()
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "upsert", as_arrow(ROWS), options=RANGES)
    stored: dict[str, Any] = json.loads(metadata_file(uri).read_text())
    assert (stored["partitionPath"], stored["instant"], stored["numBuckets"]) == ("x", "00000000000000", 4)
    nodes = sorted((node["value"], node["fileIdPrefix"], node["tag"]) for node in stored["nodes"])
    assert nodes == [(end, group, "NORMAL") for end, group in zip(ENDS, GROUPS, strict=True)]


@HASHED
@pytest.mark.requirements("LAY-021", "MRG-007")
def test_hashes_above_all_ranges_belong_to_the_first(engine: Client, new_uri: NewUri) -> None:
    """MRG-007: the ranges are a ring: where the last one ends before the greatest hash, the hashes above it belong to the first
    range. Each key is written to the file group of its range, and found there.
    """
    uri = new_uri()
    program = Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    store_ranges(uri, ENDS[:3])
    model = program.model()
    for ts in (1, 2):
        rows = [{**one, "ts": ts, "value": f"write {ts}"} for one in ROWS]
        model.apply("upsert", rows, engine.write(uri, "upsert", as_arrow(rows), options=RANGES))
        expect_rows(engine, uri, model.snapshot(), f"after write {ts}")
    assert keys_by_group(engine, uri) == {GROUPS[0]: {"c", "e", "f"}, GROUPS[1]: {"b"}, GROUPS[2]: {"a", "d", "g"}}


@HASHED
@pytest.mark.requirements("LAY-021", "MRG-007")
def test_a_range_that_is_being_replaced_is_not_written(engine: Client, new_uri: NewUri) -> None:
    """LAY-021: a range is marked as one that a split replaces. A writer that does not know where its rows go refuses the write,
    and stores nothing.
    """
    only_engines_of_this_project(engine, "a write while buckets are being split or merged")
    uri = new_uri()
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    store_ranges(uri, ENDS, "REPLACE")
    with pytest.raises(ContractError):
        engine.write(uri, "upsert", as_arrow(ROWS), options=RANGES)
    assert data_files(uri) == set()


@HASHED
@pytest.mark.requirements("LAY-021", "MRG-007")
def test_the_hash_of_a_key_of_two_fields(engine: Client, new_uri: NewUri) -> None:
    """MRG-007: the hash of a key of several fields is that of their texts one after the other, without anything between them.
    Each row is in the file group of the range of that hash.
    """
    check_places(engine, new_uri(), {"one": "one", "two": "two", "three": "three"})


@HASHED
@pytest.mark.requirements("LAY-021", "MRG-007", "META-007")
def test_the_hash_of_a_key_with_a_null(engine: Client, new_uri: NewUri) -> None:
    """MRG-007: in the hash of a key of several fields, a null is the text `null`, and an empty text is nothing: not the marks
    that the key has for them.
    """
    check_places(engine, new_uri(), {None: "null", "": ""})


def check_places(engine: Client, uri: str, values: Mapping[str | None, str]) -> None:
    """Write rows whose key is a text and one of these values; each is in the range of the text, with what the value adds."""
    spec = TableSpec("two_fields", "MERGE_ON_READ", SCHEMA, ("id", "value"), ("city",), ("ts",), "EVENT_TIME_ORDERING")
    engine.create(uri, spec)
    rows: list[dict[str, Any]] = [{**row(key, 1, "", "x"), "value": value} for key in RANGE_OF for value in values]
    engine.write(uri, "upsert", as_arrow(rows), options=RANGES)
    found = engine.read(uri, Query(columns=("id", "value", "_hoodie_file_name"))).to_pylist()
    places = {(one["id"], one["value"]): one["_hoodie_file_name"].lstrip(".")[:36] for one in found}
    expected = {}
    for one in rows:
        digest = xxhash.xxh32_intdigest(f"{one['id']}{values[one['value']]}".encode(), seed=0) & 0x7FFFFFFF
        expected[one["id"], one["value"]] = GROUPS[next(place for place, end in enumerate(ENDS) if digest <= end)]
    assert places == expected
