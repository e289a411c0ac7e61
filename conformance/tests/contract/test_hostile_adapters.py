"""Adapters that misbehave on purpose: each is one error in time, and no process and no file stays."""

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from hudi_conformance.contract import EngineCrash, EngineError, EngineTimeout, ProtocolFault, Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.contract.process import ProcessTransport

#: An adapter that stores the ids of itself and of a child in a session of its own, and then executes the body.
ADAPTER = """
import json, os, signal, subprocess, sys, time
def say(answer):
    sys.stdout.write(json.dumps(answer) + "\\n"); sys.stdout.flush()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
open({ids!r}, "w").write(str(os.getpid()) + " " + str(child.pid))
outside = {outside!r}
for line in sys.stdin:
    message = json.loads(line)
    op, number, into = message["op"], message.get("id"), message.get("into")
    if op == "hello":
        say({{"protocol": 1, "engine": "hostile", "version": "1", "language": "python", "features": []}})
    elif op == "bye":
        break
    else:
        {body}
"""
ROWS = 'say({"id": number, "rows": into})'
#: A bomb of Arrow: a file of some kilobytes with two gigabytes of zeros.
BOMB = (
    "import pyarrow as pa; rows = pa.table({'n': pa.array([0] * (1 << 20), pa.int64())}); "
    "file = pa.ipc.new_file(into, rows.schema, options=pa.ipc.IpcWriteOptions(compression='zstd')); "
    "[file.write_table(rows) for _ in range(160)]; file.close(); "
)
ATTACKS = {
    "rows are a pipe": f"os.mkfifo(into); {ROWS}",
    "rows are a directory": f"os.mkdir(into); {ROWS}",
    "rows are a link": f"os.symlink(outside, into); {ROWS}",
    "rows are a link to a device": f'os.symlink("/dev/zero", into); {ROWS}',
    "rows are a device": 'say({"id": number, "rows": "/dev/zero"})',
    "rows are elsewhere": 'say({"id": number, "rows": outside})',
    "rows climb out": 'say({"id": number, "rows": os.path.join(os.path.dirname(into), "..", "x")})',
    "rows in a link that replaces their folder": (
        "import pyarrow as pa; folder, name = os.path.split(into); os.rmdir(folder); os.mkdir(outside + 'd'); "
        "os.symlink(outside + 'd', folder); rows = pa.table({'n': [1]}); "
        f"file = pa.ipc.new_file(into, rows.schema); file.write_table(rows); file.close(); {ROWS}"
    ),
    "rows in a link that replaces the folder above": (
        "import pyarrow as pa; folder, name = os.path.split(into); above = os.path.dirname(folder); os.rename(above, above + 'old'); "
        "os.makedirs(outside + 'd/' + os.path.basename(folder)); os.symlink(outside + 'd', above); rows = pa.table({'n': [1]}); "
        f"file = pa.ipc.new_file(into, rows.schema); file.write_table(rows); file.close(); {ROWS}"
    ),
    "rows without a folder": f"os.rmdir(os.path.dirname(into)); {ROWS}",
    "rows at a path with NUL": 'say({"id": number, "rows": into + chr(0)})',
    "rows at a path with half a character": 'say({"id": number, "rows": into + chr(0xD800)})',
    "rows expand": BOMB + ROWS,
    "rows are truncated after the answer": f'open(into, "wb").write(b"ARROW1" * 9); {ROWS}; os.truncate(into, 3)',
    "a flood of output": 'exec("while True: sys.stdout.write(chr(120) * (1 << 16))")',
    "a flood of lines": 'exec("while True: print(1)")',
    "a flood of errors": 'exec("while True: sys.stderr.write(chr(120) * (1 << 16))")',
    "a line of 300 MB": 'sys.stdout.write("x" * 300_000_000 + "\\n"); sys.stdout.flush()',
    "nested JSON": 'print("[" * 200_000 + "]" * 200_000, flush=True)',
    "no newline": 'sys.stdout.write("{}"); sys.stdout.flush(); time.sleep(600)',
    "exit in the middle": 'sys.stdout.write("{\\"id"); sys.stdout.flush(); os._exit(7)',
    "killed by itself": "os.kill(os.getpid(), signal.SIGKILL)",
    "silence, deaf to signals": "[signal.signal(n, signal.SIG_IGN) for n in (2, 15, 1)]; time.sleep(600)",
    "stopped": "os.kill(os.getpid(), signal.SIGSTOP)",
}
#: Seconds of a message, and those in which each attack must be over.
LIMIT, MOST = 3.0, 40.0


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_is_one_error_in_time(attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline of a message holds for each; what the adapter started is gone, and files outside are not read or changed."""
    above = tmp_path / "above"
    above.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(above))  # attacks leave links there
    ids, outside = tmp_path / "ids", tmp_path / "outside"
    outside.write_bytes(b"of another program")
    text = ADAPTER.format(ids=str(ids), outside=str(outside), body=ATTACKS[attack])
    argv = [sys.executable, "-c", text]
    client = Client("hostile", lambda: ProcessTransport(argv), start_timeout=30.0, message_timeout=LIMIT)
    started = time.monotonic()
    try:
        with pytest.raises((ProtocolFault, EngineCrash, EngineTimeout, EngineError)) as caught:
            client.read("file:///nowhere", Query())
    finally:
        client.close(grace=0)
    assert time.monotonic() - started < MOST
    assert isinstance(caught.value, ContractError)
    assert len(str(caught.value)) < 10_000
    assert outside.read_bytes() == b"of another program"
    processes = [int(number) for number in ids.read_text().split()]
    assert len(processes) == 2
    assert wait_until(lambda: not any(map(is_running, processes))), "a process of the adapter stays"


def is_running(pid: int) -> bool:
    """Whether a process exists that is not a zombie."""
    with suppress(OSError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return False


def wait_until(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether the condition holds within that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return holds()


def test_processes_of_the_attacks_are_seen() -> None:
    """The check itself: a process that runs is seen, one that has ended is not."""
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)"], os.environ)
    assert is_running(child)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert not is_running(child)
