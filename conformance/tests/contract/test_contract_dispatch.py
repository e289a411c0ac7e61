"""The engine's side of the dialogue: one message, one answer, never an exception."""

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
    """Keeps what it was asked, and answers or raises what it was told."""

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


def test_hello_is_answered_with_the_identity_and_no_id():
    """The first answer introduces the engine."""
    assert dispatch(Recorder(), {"op": "hello", "protocol": 1}) == {
        "protocol": 1,
        "engine": "recorder",
        "version": "1",
        "language": "python",
        "features": ["read.snapshot"],
    }


def test_rows_travel_as_an_arrow_file(tmp_path):
    """The query reaches the engine as it was asked, its rows lie in the file that was named."""
    engine = Recorder(ROWS)
    answer = dispatch(engine, read_message(tmp_path, columns=["n"], where=[["n", ">", 0]]))
    assert answer == {"id": 5, "rows": str(tmp_path / "r")}
    assert engine.asked == [("file:///t", Query(columns=("n",), where=(("n", ">", 0),)))]
    assert read_rows(tmp_path / "r").equals(ROWS)


def test_a_write_hands_over_the_rows_and_gives_the_instant(tmp_path):
    """The other direction."""
    write_rows(ROWS, tmp_path / "w")
    engine = Recorder("20260101000000000")
    message = {"op": "write", "id": 6, "table": "file:///t", "operation": "upsert", "rows": str(tmp_path / "w")}
    assert dispatch(engine, message) == {"id": 6, "done": {"instant": "20260101000000000"}}
    assert engine.asked == [("file:///t", "upsert", ROWS)]


@pytest.mark.parametrize(
    ("raised", "kind", "words"),
    [
        (Refused("read.cdc", "later"), "refused", {"feature": "read.cdc", "message": "later"}),
        (EngineError("disk full"), "error", {"message": "disk full"}),
    ],
)
def test_the_exceptions_of_the_contract_are_answers(tmp_path, raised, kind, words):
    """An engine says no by raising."""
    assert dispatch(Recorder(raised), read_message(tmp_path)) == {"id": 5, kind: words}


def test_a_lost_race_is_a_conflict(tmp_path):
    """Only writes can lose one."""
    write_rows(ROWS, tmp_path / "w")
    message = {"op": "write", "id": 6, "table": "file:///t", "operation": "upsert", "rows": str(tmp_path / "w")}
    answer = dispatch(Recorder(Conflict("0007 was first")), message)
    assert answer == {"id": 6, "conflict": {"message": "0007 was first"}}


@pytest.mark.parametrize("answer", [ValueError("boom"), None, "no table"], ids=["raises", "nothing", "a text"])
def test_whatever_an_engine_throws_or_returns_is_an_error_with_a_trace(tmp_path, answer):
    """A bug in an adapter ends the message, not the dialogue."""
    found = dispatch(Recorder(answer), read_message(tmp_path))
    assert check_answer("read", found) == "error"
    assert found["id"] == 5
    assert "Traceback" in found["error"]["trace"]


def test_an_inspection_that_is_no_json_is_an_error():
    """Found before the answer is on its way."""
    found = dispatch(Recorder({"when": object()}), {"op": "inspect", "id": 1, "uri": "file:///t"})
    assert "not JSON serializable" in found["error"]["message"]


@pytest.mark.parametrize(
    ("message", "number"), [("junk", None), ({"op": "dance", "id": 3}, 3), ({"op": "read", "id": 4}, 4), ({}, None)]
)
def test_what_is_no_message_is_an_error_under_the_id_it_carries(message, number):
    """Null where there is none."""
    found = dispatch(Recorder(), message)
    assert found["id"] == number
    assert found["error"]["message"].startswith("not a message of protocol 1")


def test_a_base_engine_refuses_everything(tmp_path):
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


def test_prints_of_an_engine_and_its_children_stay_out_of_the_protocol():
    """Standard output has answers only, and only the loop reads messages; a line that is not JSON gets an error answer."""
    sent = '{"op": "hello", "protocol": 1}\nwhat?\n{"op": "bye"}\n{"op": "hello", "protocol": 1}\n'
    done = subprocess.run([sys.executable, "-c", NOISY], input=sent, capture_output=True, text=True, timeout=60, check=True)
    hello, error = map(json.loads, done.stdout.splitlines())
    assert hello["engine"] == "noisy"
    assert error["id"] is None
    for noise in ("printed while being made", "printed by a child", "written to descriptor 1", "by the engine: ''", "closed"):
        assert noise in done.stderr
