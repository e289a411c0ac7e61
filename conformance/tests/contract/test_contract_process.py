"""The suite's side of the protocol: each failure of an adapter process has its own exception, and no child process is left."""

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
from hudi_conformance.contract.errors import BufferedAnswer, ContractError, SlowStart, WrongId
from hudi_conformance.contract.in_process import InProcessTransport
from hudi_conformance.contract.process import JSON_LINE, ProcessTransport
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
    """Start a script as an engine; all processes are ended after the test."""
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
    deadline = time.monotonic() + 30
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_running(pid)


def test_answers_in_order(script):
    """Several messages to one process."""
    client = script(GOOD)
    pid = pid_of(client)
    assert [client.inspect(TABLE) for _ in range(5)] == [INSPECTION] * 5
    assert pid_of(client) == pid
    assert client.hello == Hello("script", "1", "python", frozenset())


def test_process_that_exits_after_bye_is_not_killed(script):
    """The process has time to clean up."""
    client = script(GOOD, bye='print("tidy", file=sys.stderr); time.sleep(0.3); break')
    pid = pid_of(client)
    assert client.close(grace=10) is True
    assert not is_running(pid)


def test_process_that_runs_after_bye_is_killed(script):
    """No adapter process continues after the suite."""
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
def test_other_output_is_a_protocol_fault(script, body, told):
    """ProtocolFault quotes the output."""
    with pytest.raises(ProtocolFault) as caught:
        script(body).inspect(TABLE)
    assert told in str(caught.value)


def test_output_before_a_message_is_a_protocol_fault(script):
    """A second answer must not become the answer to the next message."""
    client = script(GOOD + "; " + GOOD)
    client.inspect(TABLE)
    time.sleep(0.2)
    with pytest.raises(ProtocolFault, match="output before the message inspect was sent"):
        client.inspect(TABLE)


def test_answer_with_another_id_is_a_protocol_fault(script):
    """The adapter lost track of the messages."""
    with pytest.raises(WrongId, match="message id 1, answer id 8"):
        script(f'say({{"id": 8, "inspect": {INSPECTION}}})').inspect(TABLE)


def test_a_closed_standard_output_is_named(script):
    """The process runs on without its standard output: the error says so, and does not wait for the time limit."""
    with pytest.raises(EngineCrash, match="closed its standard output before it answered inspect"):
        script("os.close(1); time.sleep(1000)").inspect(TABLE)


def test_a_crash_has_exit_status_and_last_output(script):
    """The exception has the last output of the process."""
    with pytest.raises(EngineCrash, match="exited with status 3 before it answered inspect") as caught:
        script('print("no\\n" * 100 + "memory", file=sys.stderr); sys.stderr.flush(); os._exit(3)').inspect(TABLE)
    assert caught.value.status == 3
    assert caught.value.stderr.splitlines()[-1] == "memory"
    assert len(caught.value.stderr.splitlines()) == 20


def test_a_crash_by_a_signal_has_its_name(script):
    """A segmentation fault is reported by its name."""
    with pytest.raises(EngineCrash, match="killed by SIGSEGV") as caught:
        script("os.kill(os.getpid(), 11)").inspect(TABLE)
    assert caught.value.status == -11


def test_a_crash_is_detected_although_a_child_keeps_the_pipes_open(script):
    """The end of the process decides, not the end of its output; the child is killed with the process group."""
    client = script('child = subprocess.Popen(["sleep", "1000"]); print(child.pid, file=sys.stderr, flush=True); os._exit(4)')
    with pytest.raises(EngineCrash, match="exited with status 4") as caught:
        client.inspect(TABLE)
    assert wait_until_stopped(int(caught.value.stderr.split()[-1]))


def test_hanging_process_is_killed_with_its_children(script):
    """After the time limit of a message, the process and its children, such as a JVM, are killed."""
    body = 'child = subprocess.Popen(["sleep", "1000"]); print(child.pid, file=sys.stderr, flush=True); time.sleep(1000)'
    client = script(body, limit=1.0)
    pid = pid_of(client)
    with pytest.raises(EngineTimeout, match="no answer to inspect within 1 s") as caught:
        client.inspect(TABLE)
    assert not isinstance(caught.value, SlowStart)
    assert not is_running(pid)
    assert wait_until_stopped(int(str(caught.value).split()[-1]))


def test_incomplete_line_is_not_an_answer(script):
    """An answer ends with a line break."""
    with pytest.raises(EngineTimeout):
        script('sys.stdout.write("{"); sys.stdout.flush(); time.sleep(1000)', limit=0.5).inspect(TABLE)


def test_process_that_does_not_read_times_out(script):
    """A message larger than the pipe does not block the suite."""
    text = ENGINE.format(body=GOOD, bye="break").replace("hello()\n        continue", "hello(); time.sleep(1000)")
    client = script("", limit=0.5, text=text)
    spec = TableSpec("t" * 1_000_000, "COPY_ON_WRITE", {"type": "record", "name": "t", "fields": []}, ("id",))
    with pytest.raises(EngineTimeout):
        client.create(TABLE, spec)


def test_slow_start_is_reported_as_such():
    """The start has its own time limit and its own remedy."""
    argv = [sys.executable, "-c", "import time; time.sleep(1000)"]
    with pytest.raises(SlowStart, match=r"no answer to hello within 0\.5 s"):
        Client("slow", lambda: ProcessTransport(argv), start_timeout=0.5, message_timeout=60)


def test_missing_command_is_a_crash_without_status():
    """The message names the command."""
    with pytest.raises(EngineCrash, match="could not be started: /no/such/engine") as caught:
        Client("none", lambda: ProcessTransport(["/no/such/engine"]), start_timeout=1, message_timeout=1)
    assert caught.value.status is None


def test_process_is_restarted_after_a_crash(script):
    """A crash does not affect the next case."""
    client = script('os._exit(1) if message["uri"].endswith("/bad") else ' + GOOD)
    with pytest.raises(EngineCrash):
        client.inspect("file:///bad")
    assert client.inspect("file:///good") == INSPECTION


def test_invalid_arrow_file_is_a_protocol_fault(script):
    """A truncated file, another format, or a missing file."""
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


@pytest.mark.parametrize("limit", [1.0, 3600.0])
def test_an_answer_without_a_newline_is_named(script, monkeypatch, limit: float):
    """A complete object that waits for its newline is the adapter's fault, not a time-out of the engine, and is named soon."""
    monkeypatch.setattr("hudi_conformance.contract.process._NEWLINE", 0.5)
    with pytest.raises(ProtocolFault, match="the answer to inspect has no newline at its end") as caught:
        script(
            f'sys.stdout.write(json.dumps({{"id": number, "inspect": {INSPECTION}}})); sys.stdout.flush()', limit=limit
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


#: An adapter in Python that flushes `hello` only. Its other answers stay in the buffer of standard output.
BUFFERING = """
import json, sys
sys.stdout = open(1, "w")  # PYTHONUNBUFFERED has no effect on it
for line in sys.stdin:
    message = json.loads(line)
    if message["op"] == "hello":
        hello = {"protocol": 1, "engine": "buffers", "version": "1", "language": "python", "features": []}
        print(json.dumps(hello), flush=True)
    elif message["op"] != "bye":
        print(json.dumps({"id": message["id"], "error": {"message": "not offered" + " " * PADDING}}))
"""


@pytest.mark.parametrize("padding", [0, 10_000])
def test_output_that_is_buffered_after_hello_is_named(script, padding: int):
    """The answer, or its last part, comes when standard input is closed. The time-out names the slip."""
    client = script("", limit=0.5, text=BUFFERING.replace("PADDING", str(padding)))
    pid = pid_of(client)
    with pytest.raises(
        BufferedAnswer, match=r"no answer to inspect within .* s; it came when standard input was closed"
    ) as caught:
        client.inspect(TABLE)
    assert isinstance(caught.value, EngineTimeout)
    assert not is_running(pid)
    assert "flush standard output after each answer" in str(caught.value).splitlines()[0]


def test_nested_brackets_are_the_adapters_fault(script):
    """A parser that stops at its limit does not end the run."""
    with pytest.raises(ProtocolFault, match="nested too deeply"):
        script('print("[" * 100000 + "]" * 100000, flush=True)').inspect(TABLE)
    with pytest.raises(ProtocolFault):
        script('print(\'{"id": 1, "inspect": \' + "[" * 900 + "]" * 900 + "}", flush=True)').inspect(TABLE)


def test_endless_output_ends_at_the_time_limit(script, monkeypatch):
    """The limit holds while data arrives, and no more than the longest line is kept."""
    monkeypatch.setenv(JSON_LINE.variable, str(1 << 40))
    started = time.monotonic()
    with pytest.raises(EngineTimeout):
        script('while True: sys.stdout.write("x" * 1000); time.sleep(0.001)', limit=1.0).inspect(TABLE)
    assert time.monotonic() - started < 30


def test_endless_output_ends_at_the_longest_line(script):
    """Long before the time limit, and within bounded memory."""
    client = script('while True: sys.stdout.write("x" * (1 << 20))', limit=60.0)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    with pytest.raises(ProtocolFault, match="a line longer than 67108864 bytes"):
        client.inspect(TABLE)
    assert time.monotonic() - started < 50
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident < 4 * JSON_LINE.default // 1024


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


def test_write_without_instant_is_a_protocol_fault(script):
    """The suite needs the instant for as-of queries."""
    with pytest.raises(ProtocolFault, match="names the instant"):
        script('say({"id": number, "done": {}})').write(TABLE, "insert", pa.table({"id": ["a"]}))


def test_error_has_the_trace_of_the_engine(script):
    """Reports show the trace."""
    with pytest.raises(EngineError, match="boom") as caught:
        script('say({"id": number, "error": {"message": "boom", "trace": "line 1"}})').inspect(TABLE)
    assert caught.value.trace == "line 1"


def test_invalid_message_is_not_sent(script):
    """The suite validates its own messages."""
    with pytest.raises(ValueError, match=r"read\.message: table"):
        script(GOOD).read("/no/uri", Query())


def test_in_process_engine_has_the_same_checks():
    """Same messages and schemas, without a process."""

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
    """A name that is not registered is started as a command line with shell quoting."""
    program = tmp_path / "my engine.py"
    program.write_text(ENGINE.format(body=GOOD, bye="break"))
    with connect(f"{sys.executable} '{program}'") as client:
        assert client.hello.engine == "script"
        assert client.inspect(TABLE) == INSPECTION
