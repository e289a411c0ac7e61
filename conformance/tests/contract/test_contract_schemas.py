"""The JSON Schemas of the contract: complete, closed, and consistent with the Python classes."""

import pytest

from hudi_conformance.contract import FEATURES, Hello, Query, TableSpec
from hudi_conformance.contract.features import FORMER_NAMES
from hudi_conformance.contract.validation import (
    ANSWERS,
    SchemaViolation,
    check_answer,
    check_inspection,
    check_message,
    find_violation,
    schemas,
)

AVRO = {"type": "record", "name": "t", "fields": [{"name": "id", "type": "string"}]}
READ = {"op": "read", "id": 1, "table": "file:///t", "query": {"kind": "snapshot"}, "into": "/tmp/1.arrow"}
INSPECTION = {
    "properties": {"hoodie.table.name": "t"},
    "timeline": {
        "completed": [
            {
                "requested": "20260101000000000",
                "completion": "20260101000000001",
                "action": "commit",
                "where": "active",
            }
        ],
        "pending": [{"requested": "20260101000000002", "action": "clean", "state": "INFLIGHT"}],
    },
    "file_groups": {
        "p=1": {
            "f1": {
                "replaced_by": None,
                "slices": [{"base_instant": "20260101000000000", "base_file": None, "log_files": [".f1.log.1"]}],
                "latest": None,
            }
        }
    },
}


@pytest.mark.parametrize("op", ANSWERS)
def test_every_message_and_answer_has_a_schema(op):
    """Each message and each answer of the protocol has a schema."""
    assert f"{op}.message" in schemas()
    assert all(f"{kind}.answer" in schemas() for kind in ANSWERS[op])


def test_schema_and_suite_have_the_same_features():
    """A feature is added in one place only if this test is changed with it."""
    assert schemas()["hello.answer"]["properties"]["features"]["items"]["enum"] == [*FEATURES, *FORMER_NAMES]


@pytest.mark.parametrize("name", schemas())
def test_every_schema_has_title_and_dialect(name):
    """Adapters in other languages use these files: draft 2020-12, with a title."""
    assert schemas()[name]["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schemas()[name]["title"].endswith((".", "?"))


@pytest.mark.parametrize(
    "message",
    [
        {"op": "hello", "protocol": 1},
        READ,
        {"op": "inspect", "id": 2, "uri": "s3://bucket/t"},
        {"op": "create", "id": 3, "table": "file:///t", "spec": TableSpec("t", "COPY_ON_WRITE", AVRO, ("id",)).to_json()},
        {"op": "write", "id": 4, "table": "file:///t", "operation": "bulk_insert", "rows": "/tmp/4.arrow"},
        {"op": "begin", "id": 5, "writer": "a", "until": "stored", "service": {"table": "file:///t", "service": "clustering"}},
        {"op": "resume", "id": 6, "writer": "a"},
        {"op": "bye"},
    ],
    ids=lambda message: message["op"],
)
def test_messages_of_the_protocol_are_accepted(message):
    """Each operation in its plainest form."""
    check_message(message)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("hello", "a message is a JSON object"),
        ({"op": "dance", "id": 1}, "op is one of"),
        ({"op": ["read"]}, "op is one of"),
        ({"op": "hello", "protocol": 2}, "protocol: 1 was expected"),
        ({k: v for k, v in READ.items() if k != "into"}, "'into' is a required property"),
        ({**READ, "table": "/a/path"}, "table"),
        ({**READ, "query": {"kind": "as-of"}}, "'as_of' is a required property"),
        ({**READ, "query": {"kind": "snapshot", "where": [["id", "like", "a%"]]}}, "query.where[0][1]"),
        ({**READ, "query": {"kind": "\ud800"}}, "a text with half a character"),
        ({"op": "begin", "id": 5, "writer": "a", "until": "stored"}, "begin.message"),
        ({"op": "resume", "id": 6, "writer": "a", "until": "dawn"}, "until"),
    ],
)
def test_invalid_message_is_reported_on_one_line_with_its_place(message, told):
    """The line is part of an error answer or a report."""
    with pytest.raises(SchemaViolation) as caught:
        check_message(message)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_query_and_table_spec_are_unchanged_after_encoding():
    """Encoding and decoding return an equal object, including defaults."""
    query = Query("as-of", as_of="20260101000000000", columns=("b", "a"), where=(("a", "<=", 3),))
    spec = TableSpec("t", "MERGE_ON_READ", AVRO, ("id",), ("p",), ("ts",), "EVENT_TIME_ORDERING", True, True, {"k": "v"})
    assert Query.from_json(query.to_json()) == query
    assert TableSpec.from_json(spec.to_json()) == spec
    assert find_violation("query", query.to_json()) is None
    assert find_violation("table-spec", spec.to_json()) is None


def test_hello_is_unchanged_after_encoding_and_unknown_features_are_rejected():
    """A misspelled feature would silently turn cases into "not offered"."""
    hello = Hello("x", "1", "rust", frozenset({"read.snapshot", "copy-on-write"}))
    assert check_answer("hello", hello.to_json()) == "hello"
    assert Hello.from_json(hello.to_json()) == hello
    with pytest.raises(SchemaViolation, match=r"features\[0\]: .read.snapshots. is not known; did you mean read.snapshot"):
        check_answer("hello", {**hello.to_json(), "features": ["read.snapshots"]})


@pytest.mark.parametrize(
    ("op", "answer"),
    [
        ("read", {"id": 1, "done": {}}),
        ("write", {"id": 1, "rows": "/tmp/1.arrow"}),
        ("read", {"id": 1, "conflict": {"message": "too late"}}),
        ("read", {"id": "1", "rows": "/tmp/1.arrow"}),
        ("read", {"id": 1, "refused": {"message": "no"}}),
        ("write", {"id": 1, "done": {"instant": "yesterday"}}),
        ("inspect", {"id": 1, "inspect": {}}),
        ("read", ["rows"]),
    ],
)
def test_answer_must_fit_its_message(op, answer):
    """An answer of another form or of another operation is rejected."""
    with pytest.raises(SchemaViolation):
        check_answer(op, answer)


def test_inspection_schema_covers_slices():
    """The schema of `inspect TABLE --json`."""
    check_inspection(INSPECTION)
    broken = {**INSPECTION, "file_groups": {"": {"f1": {"replaced_by": None, "slices": [{}], "latest": None}}}}
    with pytest.raises(SchemaViolation, match="base_instant"):
        check_inspection(broken)


@pytest.mark.parametrize("name", schemas())
def test_a_schema_has_examples_that_it_accepts(name):
    """docs/contract.md shows the examples."""
    examples = schemas()[name]["examples"]
    assert examples
    assert [find_violation(name, example) for example in examples if find_violation(name, example)] == []


@pytest.mark.parametrize("name", [name for name in schemas() if "properties" in schemas()[name]])
def test_each_member_of_a_message_has_a_description(name):
    """docs/contract.md has a table of members; `op` is the name of the message."""
    properties = schemas()[name]["properties"]
    assert [key for key, schema in properties.items() if key != "op" and not schema.get("description")] == []


@pytest.mark.parametrize("name", [name for name in schemas() if name.endswith((".message", ".answer"))])
def test_unknown_members_are_ignored_in_both_directions(name):
    """The contract can grow: an adapter and a suite of different releases understand each other."""
    for example in schemas()[name]["examples"]:
        assert find_violation(name, _with_more(example)) is None


def _with_more(example):
    """The message with an additional member, in it and in each object that belongs to the contract."""
    inner = {"query", "spec", "write", "service", "done", "refused", "conflict", "error"}
    grown = {k: {**v, "of_a_later_release": 1} if k in inner and isinstance(v, dict) else v for k, v in example.items()}
    return {**grown, "of_a_later_release": [1]}
