"""The supervisor of one program: it ends everything that the program started, when the program or its parent ends.

Run as `python -I -S supervisor.py LIFE STATUS PROGRAM...` by `supervised.Supervised`. LIFE is the read end of a pipe whose
write end only the parent has: it is closed when the parent closes it or ends, also by SIGKILL. STATUS is the write end of a
pipe that gets the number of the error if the program cannot be started.

On Linux the supervisor is a child sub-reaper: each process that the program starts stays its descendant, also one in a
session of its own (`setsid`) whose parent has ended. On other systems only the process group of the program is killed.
Imports are few, because each start of an adapter waits for them.
"""

import ctypes
import os
import select
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
#: Seconds in which all descendants must be gone; more are needed only for processes that the kernel cannot end.
ENDING = 10.0
#: The exit status of a program that cannot be started, as in a shell.
NOT_STARTED = 127


def main(life: int, status: int, argv: list[str]) -> int:
    """Run the program to its end or until `life` is closed, and kill its descendants; its wait status."""
    on_linux = sys.platform == "linux"
    if on_linux:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    woken, wake = os.pipe()
    for fd in (woken, wake):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(wake)
    asked = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    for number in (signal.SIGCHLD, *asked):
        signal.signal(number, lambda *_: None)
    program = start(argv, status)
    found = watch(program, life, woken, bytes(asked))
    end_descendants(program, on_linux)
    return found


def prctl(option: int, value: int) -> None:
    """A call of Linux' prctl. A kernel that refuses it keeps the process group as the only means."""
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def start(argv: list[str], status: int) -> int:
    """Start the program in a session of its own, with the standard streams of this process, which gives them up."""
    me = os.getpid()
    os.set_inheritable(status, False)
    program = os.fork()
    if program == 0:
        try:
            os.setsid()
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
                signal.signal(number, signal.SIG_DFL)
            if sys.platform == "linux":
                prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == me:
                os.execvp(argv[0], argv)
        except OSError as error:
            os.write(status, str(error.errno).encode())
        finally:
            os._exit(NOT_STARTED)
    os.close(status)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    return program


def watch(program: int, life: int, woken: int, asked: bytes) -> int:
    """Wait until the program has ended, `life` is closed, or a signal asks for the end; the wait status, SIGKILL if it runs."""
    while True:
        try:
            while (reaped := os.waitpid(-1, os.WNOHANG))[0]:
                if reaped[0] == program:
                    return reaped[1]
        except ChildProcessError:
            return signal.SIGKILL
        ready, _, _ = select.select([life, woken], [], [])
        if life in ready or (woken in ready and set(os.read(woken, 4096)) & set(asked)):
            return signal.SIGKILL


def end_descendants(program: int, on_linux: bool) -> None:
    """Kill all descendants, again and again until there is none: they may start others meanwhile."""
    deadline = time.monotonic() + ENDING
    while time.monotonic() < deadline:
        for pid in descendants() if on_linux else ():
            try:  # noqa: SIM105
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass  # it has ended, or it runs as another user
        try:  # noqa: SIM105
            os.killpg(program, signal.SIGKILL)
        except OSError:
            pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def descendants() -> list[int]:
    """The processes below this one, by /proc."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                continue  # it has ended
            children.setdefault(parent, []).append(int(name))
    found, rest = [], [os.getpid()]
    while rest:
        below = children.get(rest.pop(), [])
        found += below
        rest += below
    return found


def end_alike(status: int) -> None:
    """End as the program ended: with its exit status, or by its signal but without a second core file."""
    if os.WIFSIGNALED(status):
        import resource

        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    end_alike(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
