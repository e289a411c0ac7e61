"""The jar of Apache Hudi for Spark, fetched once into the cache folder by Spark's own package resolution."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from hudi_conformance.engines.environments import (
    EnvironmentFailure,
    Offline,
    Progress,
    alone,
    cache_folder,
    command_for,
    ensure_java,
    silent,
)

GROUP, ARTIFACT = "org.apache.hudi", "hudi-spark3.5-bundle_2.12"
#: The one line of Ivy's report that tells what is wrong.
_UNRESOLVED = re.compile(r"unresolved dependency: [^\n]*|\[NOT FOUND[^\n]*|Server access error[^\n]*")


def cached_bundle(version: str) -> Path:
    """Where the jar of that version lies, fetched or not."""
    return cache_folder() / "jars" / f"{ARTIFACT}-{version}.jar"


def bundle(version: str, progress: Progress = silent) -> Path:
    """The jar of that version, fetched if it is not in the cache yet.

    Called inside the environment of the extra `apache-hudi`. Raises Offline with Ivy's own word where the repository is
    out of reach, EnvironmentFailure where the fetch fails otherwise.
    """
    jar = cached_bundle(version)
    if not jar.exists():
        with alone(jar.with_suffix(".lock"), progress):
            if not jar.exists():
                _fetch(version, jar, progress)
    return jar


def _fetch(version: str, jar: Path, progress: Progress) -> None:
    """Have spark-submit resolve the package and run an empty program, then keep the jar alone."""
    progress(f"fetching Apache Hudi {version} ({ARTIFACT}, about 100 MB, once) into {jar.parent}")
    ensure_java()
    with tempfile.TemporaryDirectory(dir=jar.parent) as folder:
        ivy, program = Path(folder) / "ivy", Path(folder) / "empty.py"
        program.touch()
        command = [
            _spark_submit(),
            "--packages",
            f"{GROUP}:{ARTIFACT}:{version}",
            "--conf",
            f"spark.jars.ivy={ivy}",
            str(program),
        ]
        environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
        run = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        fetched = ivy / "jars" / f"{GROUP}_{ARTIFACT}-{version}.jar"
        if run.returncode != 0 or not fetched.exists():
            raise _failure(version, run.stdout + run.stderr)
        shutil.move(fetched, jar)
    progress(f"fetched {jar.name}")


def _failure(version: str, output: str) -> EnvironmentFailure:
    found = _UNRESOLVED.search(output)
    cure = f"when online run: {command_for(f'apache-hudi@{version}')}"
    if found:
        return Offline(f"Apache Hudi {version} is not in the cache and could not be fetched: {found[0].strip()}; {cure}")
    end = "\n".join(output.splitlines()[-15:])
    return EnvironmentFailure(f"Apache Hudi {version} could not be fetched; {cure}\n{end}")


def _spark_submit() -> str:
    import pyspark

    return str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
