"""The engine's side of the protocol: one answer for each message, never an exception."""

import json
import subprocess
import sys

import pyarrow as pa
import pytest

from hudi_conformance.contract import Conflict, Engine, EngineError, Hello, Query, Refused
from hudi_conformance.contract.arrow_files import read_rows, write_rows
from hudi_conformance.contract.serve import dispatch
from hudi_conformance.contract.validation import check_answer

ROWS = pa.table({"id": ["a"], "n": pa.array([1], pa.int64())})


class Recorder(Engine):
    """Records its arguments, and returns or raises what the test sets."""

    def __init__(self, answer=None):
        self.answer, self.asked = answer, []

    def hello(self):
        return Hello("recorder", "1", "python", frozenset({"read.snapshot"}))

    def _answer(self, *asked):
        self.asked.append(asked)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def read(self, table, query):
        return self._answer(table, query)

    def inspect(self, uri, *, keys=None, prefix=None):
        return self._answer(uri)

    def create(self, table, spec):
        return self._answer(table, spec)

    def write(self, table, operation, rows):
        return self._answer(table, operation, rows)


def read_message(tmp_path, **query):
    return {"op": "read", "id": 5, "table": "file:///t", "query": {"kind": "snapshot", **query}, "into": str(tmp_path / "r")}


def test_hello_returns_identity_without_id():
    """The first answer identifies the engine."""
    assert dispatch(Recorder(), {"op": "hello", "protocol": 1}) == {
        "protocol": 1,
        "engine": "recorder",
        "version": "1",
        "language": "python",
        "features": ["read.snapshot"],
    }


def test_read_writes_an_arrow_file(tmp_path):
    """The engine gets the query unchanged; its rows are in the named file."""
    engine = Recorder(ROWS)
    answer = dispatch(engine, read_message(tmp_path, columns=["n"], where=[["n", ">", 0]]))
    assert answer == {"id": 5, "rows": str(tmp_path / "r")}
    assert engine.asked == [("file:///t", Query(columns=("n",), where=(("n", ">", 0),)))]
    assert read_rows(tmp_path / "r").equals(ROWS)


def test_write_passes_rows_and_returns_the_instant(tmp_path):
    """The engine gets the rows of the named file."""
    write_rows(ROWS, tmp_path / "w")
    engine = Recorder("20260101000000000")
    message = {"op": "write", "id": 6, "table": "file:///t", "operation": "upsert", "rows": str(tmp_path / "w")}
    assert dispatch(engine, message) == {"id": 6, "done": {"instant": "20260101000000000"}}
    assert engine.asked == [("file:///t", "upsert", ROWS)]


def test_members_of_a_later_release_are_ignored(tmp_path):
    """In the message, the query, the description of a table, and the work that is to pause."""
    engine = Recorder(ROWS)
    message = read_message(tmp_path, of_a_later_release=1)
    assert dispatch(engine, {**message, "hurry": True}) == {"id": 5, "rows": str(tmp_path / "r")}
    spec = {"name": "t", "type": "COPY_ON_WRITE", "schema": {"type": "record", "name": "t", "fields": []}, "record_key": ["id"]}
    create = {"op": "create", "id": 6, "table": "file:///t", "spec": {**spec, "of_a_later_release": 1}}
    assert dispatch(engine, create) == {"id": 6, "done": {}}
    work = {"table": "file:///t", "service": "clean", "of_a_later_release": 1}
    begin = {"op": "begin", "id": 7, "writer": "a", "until": "stored", "service": work}
    assert dispatch(engine, begin)["refused"]["feature"] == "pause.service"


@pytest.mark.parametrize(
    ("raised", "kind", "words"),
    [
        (Refused("read.cdc", "later"), "refused", {"feature": "read.cdc", "message": "later"}),
        (EngineError("disk full"), "error", {"message": "disk full"}),
    ],
)
def test_contract_exceptions_become_answers(tmp_path, raised, kind, words):
    """An engine refuses by raising an exception."""
    assert dispatch(Recorder(raised), read_message(tmp_path)) == {"id": 5, kind: words}


def test_conflict_is_an_answer_of_writes_only(tmp_path):
    """Only writes can have a conflict."""
    write_rows(ROWS, tmp_path / "w")
    message = {"op": "write", "id": 6, "table": "file:///t", "operation": "upsert", "rows": str(tmp_path / "w")}
    answer = dispatch(Recorder(Conflict("0007 was first")), message)
    assert answer == {"id": 6, "conflict": {"message": "0007 was first"}}


@pytest.mark.parametrize("answer", [ValueError("boom"), None, "no table"], ids=["raises", "nothing", "a text"])
def test_any_exception_or_wrong_result_is_an_error_with_a_trace(tmp_path, answer):
    """A fault in an adapter ends the message and not the session."""
    found = dispatch(Recorder(answer), read_message(tmp_path))
    assert check_answer("read", found) == "error"
    assert found["id"] == 5
    assert "Traceback" in found["error"]["trace"]


def test_inspection_that_is_not_json_is_an_error():
    """The error is found before the answer is sent."""
    found = dispatch(Recorder({"when": object()}), {"op": "inspect", "id": 1, "uri": "file:///t"})
    assert "not JSON serializable" in found["error"]["message"]


@pytest.mark.parametrize(
    ("message", "number"), [("junk", None), ({"op": "dance", "id": 3}, 3), ({"op": "read", "id": 4}, 4), ({}, None)]
)
def test_invalid_message_is_an_error_with_its_id(message, number):
    """The id is null if the message has none."""
    found = dispatch(Recorder(), message)
    assert found["id"] == number
    assert found["error"]["message"].startswith("not a message of protocol 1")


def test_base_engine_refuses_all_operations(tmp_path):
    """An engine that overrides no method refuses every operation."""
    write_rows(ROWS, tmp_path / "w")
    spec = {"name": "t", "type": "COPY_ON_WRITE", "schema": {"type": "record", "name": "t", "fields": []}, "record_key": ["id"]}
    messages = [
        read_message(tmp_path),
        {"op": "inspect", "id": 1, "uri": "file:///t"},
        {"op": "create", "id": 2, "table": "file:///t", "spec": spec},
        {"op": "write", "id": 3, "table": "file:///t", "operation": "bulk_insert", "rows": str(tmp_path / "w")},
    ]
    features = [dispatch(Engine(), message)["refused"]["feature"] for message in messages]
    assert features == ["read.snapshot", "inspect.table", "create", "write.bulk-insert"]


NOISY = """
import os, sys
from hudi_conformance.contract import Engine, Hello
from hudi_conformance.contract.serve import serve
class Noisy(Engine):
    def hello(self):
        print("printed"); os.system("echo printed by a child"); os.write(1, b"written to descriptor 1")
        print("read by the engine:", repr(sys.stdin.read()))
        return Hello("noisy", "1", "python", frozenset())
    def close(self):
        print("closed")
def make():
    print("printed while being made")
    return Noisy()
serve(make)
"""


def test_prints_of_engine_and_children_do_not_reach_the_protocol():
    """Standard output has answers only, and only the loop reads messages; a line that is not JSON gets an error answer."""
    sent = '{"op": "hello", "protocol": 1}\nwhat?\n{"op": "bye"}\n{"op": "hello", "protocol": 1}\n'
    done = subprocess.run([sys.executable, "-c", NOISY], input=sent, capture_output=True, text=True, timeout=60, check=True)
    hello, error = map(json.loads, done.stdout.splitlines())
    assert hello["engine"] == "noisy"
    assert error["id"] is None
    for noise in ("printed while being made", "printed by a child", "written to descriptor 1", "by the engine: ''", "closed"):
        assert noise in done.stderr
