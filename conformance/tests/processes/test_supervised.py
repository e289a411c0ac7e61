"""Child processes end with everything that they started, however their parent ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hudi_conformance.processes.session import PREFIX, sweep
from hudi_conformance.processes.supervised import Supervised, run_supervised

#: Starts a child in a session of its own, and a second one whose parent ends at once; prints the ids, and sleeps.
TREE = """
import os, subprocess, sys, time
first = subprocess.Popen(["sleep", "1000"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    second = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    print(first.pid, second.pid, os.getppid(), flush=True)
    os._exit(0)
os.wait()
time.sleep(1000 if len(sys.argv) == 1 else 0)
"""

COMMAND = """
import sys, tempfile
from hudi_conformance.processes.session import command_session
from hudi_conformance.processes.supervised import Supervised
with command_session():
    print(tempfile.mkdtemp(), flush=True)
    Supervised([sys.executable, "-c", sys.argv[1]]).wait()
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has child sub-reapers")


def is_running(pid: int) -> bool:
    """Whether the process exists and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except FileNotFoundError:
        return False


def wait_for_end(pids: list[int]) -> list[int]:
    """Those of the processes that run after half a minute."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and any(map(is_running, pids)):
        time.sleep(0.02)
    return [pid for pid in pids if is_running(pid)]


def test_kill_ends_children_in_sessions_of_their_own():
    """A child that left session and parent is killed with the program."""
    with Supervised([sys.executable, "-c", TREE], stdout=subprocess.PIPE) as process:
        pids = [int(word) for word in process.stdout.readline().split()]
        assert all(map(is_running, pids))
        process.kill()
    assert wait_for_end(pids) == []


def test_normal_end_ends_children_in_sessions_of_their_own():
    """A program that exits leaves no process behind."""
    with Supervised([sys.executable, "-c", TREE, "short"], stdout=subprocess.PIPE) as process:
        pids = [int(word) for word in process.stdout.readline().split()]
        assert process.wait(30) == 0
    assert wait_for_end(pids) == []


@pytest.mark.parametrize("code", [0, 3, -signal.SIGSEGV, -signal.SIGKILL, -signal.SIGTERM])
def test_return_code_is_that_of_the_program(code):
    """Exit status and signal of the program are those that the parent sees."""
    act = f"os._exit({code})" if code >= 0 else f"os.kill(os.getpid(), {-code})"
    assert run_supervised([sys.executable, "-c", f"import os; {act}"]).returncode == code


def test_program_that_does_not_exist():
    """A program that cannot be started is an OSError at once."""
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        Supervised(["no-such-program"])


def test_time_out_ends_everything(tmp_path):
    """After a time-out nothing of the program runs."""
    script = (
        "import subprocess, sys; p = subprocess.Popen(['sleep', '1000']); open(sys.argv[1], 'w').write(str(p.pid)); p.wait()"
    )
    path = tmp_path / "pid"
    with pytest.raises(subprocess.TimeoutExpired):
        run_supervised([sys.executable, "-c", script, path], timeout=3)
    assert wait_for_end([int(path.read_text())]) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda one: one.name)
def test_signal_to_the_command(number, tmp_path):
    """No process stays, and no folder either; that of a killed command is deleted by the next one."""
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    environment.pop("HUDI_CONFORMANCE_LASTING_TMPDIR", None)
    # The test may run below `nohup` or in the background of a shell, where children inherit that signals are ignored.
    handler = {signal.SIGHUP: "SIG_DFL", signal.SIGINT: "default_int_handler"}.get(number)
    default = f"import signal; signal.signal({int(number)}, signal.{handler})\n" if handler else ""
    command = [sys.executable, "-c", default + COMMAND, TREE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True) as process:
        folder = Path(process.stdout.readline().strip())
        pids = [int(word) for word in process.stdout.readline().split()]
        assert folder.is_dir() and folder.parent.parent == tmp_path
        process.send_signal(number)
        assert process.wait(30) in (-number, 1, 130)
    assert wait_for_end(pids) == []
    assert folder.exists() == (number is signal.SIGKILL)
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_sweep_keeps_what_is_in_use_or_foreign(tmp_path):
    """Locked folders, fresh folders without a lock, links and other names stay."""
    (tmp_path / f"{PREFIX}fresh").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "other")
    used = tmp_path / f"{PREFIX}used"
    used.mkdir()
    with (used / ".lock").open("w") as lock:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
        sweep(tmp_path)
        assert len(list(tmp_path.iterdir())) == 4
    sweep(tmp_path)
    assert not used.exists() and len(list(tmp_path.iterdir())) == 3
