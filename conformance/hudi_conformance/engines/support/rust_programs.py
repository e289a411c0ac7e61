"""The program of an engine in Rust, compiled on first use and kept in the cache folder.

Its sources are a Cargo package beside the modules of `engines`, with a lock file. Each state of the sources has its own
program; the compiled dependencies are shared, so that a changed adapter is compiled in seconds.
"""

import hashlib
import shutil
from pathlib import Path

from hudi_conformance.engines.support.environments import (
    EnvironmentFailure,
    Progress,
    alone,
    run_installer,
    silent,
)
from hudi_conformance.processes.cache import cache_folder

_ENGINES = Path(__file__).parents[1]


def program_path(package: str) -> Path:
    """The program of the Cargo package in the folder `package`, which may not exist. The name depends on all its sources."""
    folder, digest = _ENGINES / package, hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(bytes(path.relative_to(folder)) + b"\0" + path.read_bytes() + b"\0")
    return cache_folder() / "rust" / f"{package}-{digest.hexdigest()[:12]}"


def program_for(package: str, progress: Progress = silent) -> Path:
    """The program of a Cargo package, which is compiled if it is missing.

    Raises Offline if the crates cannot be downloaded, otherwise EnvironmentFailure with the output of cargo.
    """
    program = program_path(package)
    if not program.exists():
        with alone(cache_folder() / "rust" / f"{package}.lock", progress):
            if not program.exists():
                _compile(package, program, progress)
    return program


def cargo() -> str | None:
    """The path of cargo, None if the machine has none."""
    return shutil.which("cargo")


def _compile(package: str, program: Path, progress: Progress) -> None:
    tool = cargo()
    if tool is None:
        raise EnvironmentFailure(f"{package} is compiled with cargo, which is not installed; see https://rustup.rs")
    target = cache_folder() / "rust" / "target"
    progress(f"compiling {package} to {program} (once; several minutes)")
    manifest = str(_ENGINES / package / "Cargo.toml")
    command = [tool, "build", "--locked", "--manifest-path", manifest, "--target-dir", str(target)]
    run_installer(command, {}, f"the program of {package}", progress)
    unfinished = program.with_suffix(".unfinished")
    shutil.copy2(target / "debug" / package, unfinished)
    unfinished.replace(program)
    progress(f"compiled {package}")
