"""Each command under each signal: it ends, no process stays, and no folder either.

The processes of a command are those that have a variable of the test in their environment, whatever session, group and parent
they have. `-m long` sends every signal to every command; else two commands that start servers and adapters get two of them.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import pytest

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.processes.session import sweep

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the environment of processes is read from /proc")
#: An adapter that starts a child in a session of its own, answers hello, and then hangs.
ADAPTER = """
import json, subprocess, sys, time
subprocess.Popen(["sleep", "1000"], start_new_session=True)
for line in sys.stdin:
    if json.loads(line)["op"] != "hello":
        time.sleep(1000)
    hello = {"protocol": 1, "engine": "hanging", "version": "1", "language": "python", "features": ["read.snapshot"]}
    print(json.dumps(hello), flush=True)
"""
TABLE = str(fixtures_root() / "log" / "base-and-log" / "table")
#: Arguments of each command, and how many processes of it there are before the signal is sent.
COMMANDS: dict[str, tuple[list[str], int]] = {
    "run": (["run", "ADAPTER", "--jobs", "2", "--report", "REPORT"], 3),
    "object-store": (["object-store"], 2),
    "fixtures": (["fixtures", "verify"], 1),
    "doctor": (["doctor"], 1),
    "validate": (["validate", TABLE, "--deep"], 1),
    "explore": (["explore", "--jobs", "2", "--random", "100000"], 3),
}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
#: Sets the action of all signals as a terminal does; tests may run below `nohup` or in the background of a shell.
START = """
import signal, sys
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
from hudi_conformance.cli import app
sys.argv = ["hudi-conformance", *sys.argv[1:]]
app()
"""


def processes_with(mark: str) -> Iterator[int]:
    """The processes that have the variable in their environment, and have not ended."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            is_marked = mark.encode() in (folder / "environ").read_bytes()
            if is_marked and (folder / "stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z":
                yield int(folder.name)


def has_loaded(library: str, process: int) -> bool:
    """Whether a process has this library in its memory; it may have ended meanwhile."""
    with suppress(OSError):
        return library in Path(f"/proc/{process}/maps").read_text()
    return False


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder with a short path: those of sockets below it are limited to 104 bytes."""
    with TemporaryDirectory(prefix="s") as path:
        yield Path(path)


def check_signal(
    command: tuple[list[str], int], number: signal.Signals, tmp_path: Path, folder: Path, library: str = ""
) -> None:
    """Start the command, wait for its children, send the signal, and look for what stays in `folder`.

    The signal is not sent before the folder of the command has its lock file, since a folder without one stays for an hour if
    the command is killed, and not before one of the processes has loaded `library`.
    """
    mark = f"TEST_MARK={uuid4()}"
    adapter = tmp_path / "adapter.py"
    adapter.write_text(ADAPTER)
    places = {"ADAPTER": f"{sys.executable} {adapter}", "REPORT": str(tmp_path / "report")}
    arguments, children = command
    environment = os.environ | {"TMPDIR": str(folder), "TEST_MARK": mark.partition("=")[2]}
    environment.pop("HUDI_CONFORMANCE_LASTING_TMPDIR", None)
    program = [sys.executable, "-c", START, *(places.get(word, word) for word in arguments)]
    with subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as process:
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            found = list(processes_with(mark))
            has_folder = any(folder.glob("hudicf-*/.lock"))
            if has_folder and len(found) >= children and any(has_loaded(library, one) for one in found):
                break
            time.sleep(0.02)
        assert process.poll() is None, "the command has ended before the signal"
        process.send_signal(number)
        process.wait(60)
    deadline = time.monotonic() + 30
    while (left := list(processes_with(mark))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == [], [Path(f"/proc/{one}/cmdline").read_bytes() for one in left]
    sweep(folder)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda one: one.name)
def test_signal_to_a_command_with_an_adapter(number: signal.Signals, tmp_path: Path, folder: Path) -> None:
    """`run` ends with its adapter, and with the process that the adapter started in a session of its own."""
    check_signal(COMMANDS["run"], number, tmp_path, folder)


@pytest.mark.long
@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
@pytest.mark.parametrize("name", COMMANDS)
def test_each_signal_to_each_command(name: str, number: signal.Signals, tmp_path: Path, folder: Path) -> None:
    """The same for all commands that start processes, or that may run long."""
    check_signal(COMMANDS[name], number, tmp_path, folder)


@pytest.mark.parametrize("to_group", [True, False], ids=["terminal", "kill"])
@pytest.mark.parametrize("delay", [0.0, 1.5])
def test_explore_ends_at_an_interrupt_without_a_traceback(delay: float, to_group: bool, folder: Path) -> None:
    """Ctrl-C, which a terminal sends to workers too, ends `explore` quietly: while its processes start, and later."""
    environment = os.environ | {"TMPDIR": str(folder)}
    environment.pop("HUDI_CONFORMANCE_LASTING_TMPDIR", None)
    program = [sys.executable, "-c", START, *COMMANDS["explore"][0]]
    with subprocess.Popen(
        program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        deadline = time.monotonic() + 60
        while not any(folder.glob("hudicf-*/pymp-*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(delay)
        (os.killpg if to_group else os.kill)(process.pid, signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    assert "Traceback" not in said, said


def test_explore_ends_without_a_traceback(folder: Path) -> None:
    """The folder of multiprocessing is in that of the command, and is deleted once."""
    environment = os.environ | {"TMPDIR": str(folder)}
    environment.pop("HUDI_CONFORMANCE_LASTING_TMPDIR", None)
    program = [sys.executable, "-c", START, "explore", "two-writers-of-one-group", "--jobs", "2", "--random", "5001"]
    run = subprocess.run(program, capture_output=True, env=environment, text=True, check=False)
    assert run.returncode == 0
    assert "Traceback" not in run.stderr, run.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.apache_hudi
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda one: one.name)
@pytest.mark.parametrize("engine", ["apache-hudi@1.2.0", "apache-hudi-java@1.2.0"])
def test_signal_to_a_run_with_a_jvm(engine: str, number: signal.Signals, tmp_path: Path, folder: Path) -> None:
    """`run` ends with its JVM, and with the temporary files of the JVM."""
    command = ["run", engine, "--tier", "golden", "--jobs", "1", "--report", "REPORT"]
    check_signal((command, 2), number, tmp_path, folder, library="libjvm.so")


def test_an_interrupt_during_imports_prints_no_traceback() -> None:
    """Ctrl-C ends the program while it imports its commands, as the signal itself does: with nothing on standard error."""
    code = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
from hudi_conformance.__main__ import main
main()
"""
    found = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (found.returncode, found.stderr, found.stdout) == (-signal.SIGINT, "", "")
