"""The suite's side: every way in which a process can go wrong is told apart, and none is survived by a child."""

import os
import resource
import sys
import time
from contextlib import suppress

import pyarrow as pa
import pytest

from hudi_conformance.contract import (
    Engine,
    EngineCrash,
    EngineError,
    EngineTimeout,
    Hello,
    ProtocolFault,
    Query,
    Refused,
    TableSpec,
)
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError, SlowStart, WrongId
from hudi_conformance.contract.in_process import InProcessTransport
from hudi_conformance.contract.process import LINE_LIMIT, ProcessTransport
from hudi_conformance.engines.registry import connect

#: A process in plain Python that says hello and then does what the body says with each message.
ENGINE = """
import json, os, subprocess, sys, time
def say(answer):
    sys.stdout.write(json.dumps(answer) + "\\n"); sys.stdout.flush()
def hello():
    say({{"protocol": 1, "engine": "script", "version": "1", "language": "python", "features": []}})
for line in sys.stdin:
    message = json.loads(line)
    op, number = message["op"], message.get("id")
    if op == "bye":
        {bye}
    if op == "hello":
        hello()
        continue
    {body}
"""
INSPECTION = {"properties": {}, "timeline": {"completed": [], "pending": []}, "file_groups": {}}
GOOD = f'say({{"id": number, "inspect": {INSPECTION}}})'
TABLE = "file:///nowhere"


@pytest.fixture
def script():
    """Start a script as an engine; every process is ended by the test's end."""
    clients = []

    def start(body, bye="break", limit=10.0, text=None):
        argv = [sys.executable, "-c", text or ENGINE.format(body=body, bye=bye)]
        client = Client("script", lambda: ProcessTransport(argv), start_timeout=10.0, message_timeout=limit)
        clients.append(client)
        return client

    yield start
    for client in clients:
        client.close(grace=0)


def pid_of(client):
    return client._transport.pid


def is_running(pid):
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def wait_until_stopped(pid):
    deadline = time.monotonic() + 5
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_running(pid)


def test_answers_come_back_in_the_order_of_the_messages(script):
    """The plain case, several times through one process."""
    client = script(GOOD)
    pid = pid_of(client)
    assert [client.inspect(TABLE) for _ in range(5)] == [INSPECTION] * 5
    assert pid_of(client) == pid
    assert client.hello == Hello("script", "1", "python", frozenset())


def test_a_process_that_leaves_at_bye_is_not_killed(script):
    """It has time to put its things away."""
    client = script(GOOD, bye='print("tidy", file=sys.stderr); time.sleep(0.3); break')
    pid = pid_of(client)
    assert client.close(grace=10) is True
    assert not is_running(pid)


def test_a_process_that_stays_after_bye_is_killed(script):
    """No adapter outlives its suite."""
    client = script(GOOD, bye="time.sleep(1000)")
    pid = pid_of(client)
    assert client.close(grace=0.5) is False
    assert not is_running(pid)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('print("Loading ..."); ' + GOOD, "Loading ..."),
        ('sys.stdout.buffer.write(b"\\xff\\xfe\\n"); sys.stdout.flush()', "not a JSON line"),
        ('say({"id": number, "outcome": "fine"})', "violates its schema"),
        ("say([1])", "an answer is a JSON object"),
        ('say({"id": number, "inspect": {"properties": {}}})', "violates its schema"),
    ],
    ids=["a print", "no text", "unknown kind", "no object", "wrong shape"],
)
def test_output_that_is_not_the_protocol_is_the_adapters_fault(script, body, told):
    """ProtocolFault quotes what came instead."""
    with pytest.raises(ProtocolFault) as caught:
        script(body).inspect(TABLE)
    assert told in str(caught.value)


def test_output_before_a_message_is_the_adapters_fault(script):
    """A second answer must not become the answer to the next message."""
    client = script(GOOD + "; " + GOOD)
    client.inspect(TABLE)
    time.sleep(0.2)
    with pytest.raises(ProtocolFault, match="output before the message inspect was sent"):
        client.inspect(TABLE)


def test_an_answer_under_another_id_is_told_apart(script):
    """The adapter lost its place."""
    with pytest.raises(WrongId, match="message id 1, answer id 8"):
        script(f'say({{"id": 8, "inspect": {INSPECTION}}})').inspect(TABLE)


def test_a_crash_has_exit_status_and_last_output(script):
    """What the process printed last is the best clue."""
    with pytest.raises(EngineCrash, match="exited with status 3 before it answered inspect") as caught:
        script('print("no\\n" * 100 + "memory", file=sys.stderr); sys.stderr.flush(); os._exit(3)').inspect(TABLE)
    assert caught.value.status == 3
    assert caught.value.stderr.splitlines()[-1] == "memory"
    assert len(caught.value.stderr.splitlines()) == 20


def test_a_crash_by_a_signal_has_its_name(script):
    """A segmentation fault looks like one."""
    with pytest.raises(EngineCrash, match="killed by SIGSEGV") as caught:
        script("os.kill(os.getpid(), 11)").inspect(TABLE)
    assert caught.value.status == -11


def test_a_crash_is_detected_although_a_child_keeps_the_pipes_open(script):
    """The end of the process counts, not the end of its output; the child is killed with its group."""
    client = script('child = subprocess.Popen(["sleep", "1000"]); print(child.pid, file=sys.stderr, flush=True); os._exit(4)')
    with pytest.raises(EngineCrash, match="exited with status 4") as caught:
        client.inspect(TABLE)
    assert wait_until_stopped(int(caught.value.stderr.split()[-1]))


def test_a_hanging_process_is_killed_with_its_children(script):
    """The time limit of a message; children are what a JVM is to Spark."""
    body = 'child = subprocess.Popen(["sleep", "1000"]); print(child.pid, file=sys.stderr, flush=True); time.sleep(1000)'
    client = script(body, limit=1.0)
    pid = pid_of(client)
    with pytest.raises(EngineTimeout, match="no answer to inspect within 1 s") as caught:
        client.inspect(TABLE)
    assert not isinstance(caught.value, SlowStart)
    assert not is_running(pid)
    assert wait_until_stopped(int(str(caught.value).split()[-1]))


def test_half_an_answer_is_no_answer(script):
    """A line counts when it ends."""
    with pytest.raises(EngineTimeout):
        script('sys.stdout.write("{"); sys.stdout.flush(); time.sleep(1000)', limit=0.5).inspect(TABLE)


def test_a_process_that_does_not_read_is_timed_out_too(script):
    """A message larger than the pipe must not hang the suite."""
    text = ENGINE.format(body=GOOD, bye="break").replace("hello()\n        continue", "hello(); time.sleep(1000)")
    client = script("", limit=0.5, text=text)
    spec = TableSpec("t" * 1_000_000, "COPY_ON_WRITE", {"type": "record", "name": "t", "fields": []}, ("id",))
    with pytest.raises(EngineTimeout):
        client.create(TABLE, spec)


def test_a_slow_start_is_told_apart_from_hanging():
    """Its limit is another one, and so is the remedy."""
    argv = [sys.executable, "-c", "import time; time.sleep(1000)"]
    with pytest.raises(SlowStart, match=r"no answer to hello within 0\.5 s"):
        Client("slow", lambda: ProcessTransport(argv), start_timeout=0.5, message_timeout=60)


def test_a_command_that_can_not_be_run_is_a_crash_without_status():
    """The message names the command."""
    with pytest.raises(EngineCrash, match="could not be started: /no/such/engine") as caught:
        Client("none", lambda: ProcessTransport(["/no/such/engine"]), start_timeout=1, message_timeout=1)
    assert caught.value.status is None


def test_after_a_crash_the_next_message_meets_a_new_process(script):
    """One bad case does not spoil the others."""
    client = script('os._exit(1) if message["uri"].endswith("/bad") else ' + GOOD)
    with pytest.raises(EngineCrash):
        client.inspect("file:///bad")
    assert client.inspect("file:///good") == INSPECTION


def test_rows_that_are_no_arrow_file_are_the_adapters_fault(script):
    """Cut, foreign, or not there at all."""
    for body in ('open(message["into"], "w").write("id,n"); ', ""):
        with pytest.raises(ProtocolFault, match="not an Arrow IPC file"):
            script(body + 'say({"id": number, "rows": message["into"]})').read(TABLE, Query())


@pytest.mark.parametrize(
    ("body", "why", "remedy"),
    [
        ('os.mkdir(message["into"])', "it is a directory", "write the rows to a file"),
        ('stream = pa.ipc.new_stream(message["into"], rows.schema); stream.write_table(rows); stream.close()',
         "it is an Arrow IPC stream", "tableToIPC(table, 'file')"),
        ('import pyarrow.parquet; pyarrow.parquet.write_table(rows, message["into"])', "it is a Parquet file", "Arrow IPC file"),
        ('open(message["into"], "w").close()', "it is empty", "close the file"),
        ('open(message["into"], "wb").write(b"ARROW1\\0\\0abc")', "its end is missing", "close the writer"),
        ('message["into"] = "rows.arrow"', "the path is relative", "absolute path"),
    ],
    ids=["directory", "stream", "parquet", "empty", "not closed", "relative"],
)  # fmt: skip
def test_a_likely_slip_in_the_rows_is_named(script, body, why, remedy):
    """The message says what the file is, and the remedy how to write the right one."""
    body = f'import pyarrow as pa; rows = pa.table({{"n": [1]}}); {body}; say({{"id": number, "rows": message["into"]}})'
    with pytest.raises(ProtocolFault, match=why) as caught:
        script(body).read(TABLE, Query())
    assert remedy in (caught.value.remedy or "")


def test_an_answer_without_a_newline_is_named(script):
    """A complete object that waits for its newline is the adapter's fault, not a time-out of the engine."""
    with pytest.raises(ProtocolFault, match="the answer to inspect has no newline at its end") as caught:
        script(
            f'sys.stdout.write(json.dumps({{"id": number, "inspect": {INSPECTION}}})); sys.stdout.flush()', limit=1.0
        ).inspect(TABLE)
    assert caught.value.remedy == "end each answer with a newline"


def test_buffered_output_is_named():
    """If the first answer comes only when standard input is closed, the adapter does not flush."""
    text = ENGINE.format(body=GOOD, bye="break").replace("; sys.stdout.flush()", "")
    text = text.replace("def say", 'sys.stdout = open(1, "w")\ndef say')
    argv = [sys.executable, "-c", text]
    with pytest.raises(ProtocolFault, match="the adapter buffers its output") as caught:
        Client("buffers", lambda: ProcessTransport(argv), start_timeout=2.0, message_timeout=2.0)
    assert caught.value.remedy == "flush standard output after each answer"


def test_nested_brackets_are_the_adapters_fault(script):
    """A parser that stops at its limit does not end the run."""
    with pytest.raises(ProtocolFault, match="nested too deeply"):
        script('print("[" * 100000 + "]" * 100000, flush=True)').inspect(TABLE)
    with pytest.raises(ProtocolFault):
        script('print(\'{"id": 1, "inspect": \' + "[" * 900 + "]" * 900 + "}", flush=True)').inspect(TABLE)


def test_endless_output_ends_at_the_time_limit(script, monkeypatch):
    """The limit holds while data arrives, and no more than the longest line is kept."""
    monkeypatch.setattr("hudi_conformance.contract.process.LINE_LIMIT", 1 << 40)
    started = time.monotonic()
    with pytest.raises(EngineTimeout):
        script('while True: sys.stdout.write("x" * 1000); time.sleep(0.001)', limit=1.0).inspect(TABLE)
    assert time.monotonic() - started < 5


def test_endless_output_ends_at_the_longest_line(script):
    """Long before the time limit, and within bounded memory."""
    client = script('while True: sys.stdout.write("x" * (1 << 20))', limit=60.0)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    with pytest.raises(ProtocolFault, match="a line longer than 67108864 bytes"):
        client.inspect(TABLE)
    assert time.monotonic() - started < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident < 4 * LINE_LIMIT // 1024


def test_escape_sequences_of_an_engine_do_not_reach_the_terminal(script):
    """Messages, refusals, the end of standard error and quoted output have control characters as text."""
    sequence = "\\x1b[2J\\x07\\u202e"
    bodies = (
        f'say({{"id": number, "error": {{"message": "a{sequence}b", "trace": "{sequence}"}}}})',
        f'say({{"id": number, "refused": {{"feature": "x{sequence}", "message": "{sequence}"}}}})',
        f'print("{sequence}", flush=True)',
        f'print("{sequence}", file=sys.stderr, flush=True); os._exit(3)',
    )
    for body in bodies:
        with pytest.raises(ContractError) as caught:
            script(body).inspect(TABLE)
        shown = f"{caught.value} {getattr(caught.value, 'trace', '')} {getattr(caught.value, 'stderr', '')}"
        assert not set(shown) & set("\x1b\x07\u202e") and "x1b[2J" in shown


def test_hello_may_have_members_that_are_not_known(script):
    """Addresses are kept; what a later version adds is ignored."""
    text = ENGINE.format(body=GOOD, bye="break").replace(
        '"features": []', '"features": [], "homepage": "https://example.org", "source": "git:x\\x1b", "mood": {"today": 1}'
    )
    hello = script("", text=text).hello
    assert hello.links == {"homepage": "https://example.org", "source": "git:x\\x1b"}
    assert Hello.from_json(hello.to_json()) == hello


def test_a_write_without_an_instant_is_the_adapters_fault(script):
    """The suite needs it for as-of queries."""
    with pytest.raises(ProtocolFault, match="names the instant"):
        script('say({"id": number, "done": {}})').write(TABLE, "insert", pa.table({"id": ["a"]}))


def test_an_error_carries_the_trace_of_the_engine(script):
    """For the reader of a report."""
    with pytest.raises(EngineError, match="boom") as caught:
        script('say({"id": number, "error": {"message": "boom", "trace": "line 1"}})').inspect(TABLE)
    assert caught.value.trace == "line 1"


def test_a_message_that_breaks_its_schema_is_not_sent(script):
    """The suite keeps its side of the contract."""
    with pytest.raises(ValueError, match=r"read\.message: table"):
        script(GOOD).read("/no/uri", Query())


def test_an_engine_in_process_meets_the_same_checks():
    """Same messages, same schemas, no process."""

    class Sloppy(Engine):
        def hello(self):
            return Hello("sloppy", "1", "python", frozenset())

        def inspect(self, uri, *, keys=None, prefix=None):
            return {"timeline": "later"}

    with Client("sloppy", lambda: InProcessTransport(Sloppy), start_timeout=1, message_timeout=1) as client:
        with pytest.raises(ProtocolFault, match="violates its schema"):
            client.inspect(TABLE)
        with pytest.raises(Refused, match=r"read\.snapshot"):
            client.read(TABLE, Query())


def test_a_command_line_is_an_engine(tmp_path):
    """Anything that is no name of ours is started as it stands, quotes understood."""
    program = tmp_path / "my engine.py"
    program.write_text(ENGINE.format(body=GOOD, bye="break"))
    with connect(f"{sys.executable} '{program}'") as client:
        assert client.hello.engine == "script"
        assert client.inspect(TABLE) == INSPECTION
