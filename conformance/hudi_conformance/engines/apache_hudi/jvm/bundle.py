"""Jars of Apache Hudi, fetched once into the cache folder by Spark's own package resolution."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.engines.support.environments import (
    EnvironmentFailure,
    Offline,
    Progress,
    alone,
    command_for,
    ensure_java,
    silent,
)
from hudi_conformance.processes.cache import cache_folder

GROUP, ARTIFACT = "org.apache.hudi", "hudi-spark3.5-bundle_2.12"
#: The line of Ivy's report with the error.
_UNRESOLVED = re.compile(r"unresolved dependency: [^\n]*|\[NOT FOUND[^\n]*|Server access error[^\n]*")


@dataclass(frozen=True)
class Jar:
    """One jar of one version, without its dependencies: `excluded` are artifacts that must not be downloaded with it."""

    artifact: str
    version: str
    engine: str
    size: str
    excluded: tuple[str, ...] = ()
    group: str = GROUP

    @property
    def cached(self) -> Path:
        """The path of the jar, which may not exist."""
        return cache_folder() / "jars" / f"{self.artifact}-{self.version}.jar"

    def fetched(self, progress: Progress = silent) -> Path:
        """The jar, fetched if it is not in the cache yet.

        Called inside the environment of the extra `apache-hudi`. Raises Offline with Ivy's message if the repository
        cannot be reached, otherwise EnvironmentFailure.
        """
        if not self.cached.exists():
            with alone(self.cached.with_suffix(".lock"), progress):
                if not self.cached.exists():
                    _fetch(self, progress)
        return self.cached


def spark_bundle(version: str) -> Jar:
    """All of Apache Hudi for Spark, in one jar."""
    return Jar(ARTIFACT, version, f"apache-hudi@{version}", "about 100 MB")


def cached_bundle(version: str) -> Path:
    """The path of the bundle of that version, which may not exist."""
    return spark_bundle(version).cached


def bundle(version: str, progress: Progress = silent) -> Path:
    """The bundle of that version, fetched if it is not in the cache yet; raises as `Jar.fetched` does."""
    return spark_bundle(version).fetched(progress)


def s3a(version: str) -> tuple[Jar, ...]:
    """Hadoop's file system for object stores in the version of PySpark 3.5, and its library."""
    engine = f"apache-hudi@{version}"
    connector = Jar("hadoop-aws", "3.3.4", engine, "about 1 MB", ("com.*:*", "org.wildfly*:*"), "org.apache.hadoop")
    return connector, Jar("aws-java-sdk-bundle", "1.12.262", engine, "about 280 MB", (), "com.amazonaws")


def _fetch(jar: Jar, progress: Progress) -> None:
    """Have spark-submit resolve the package and run an empty program, then keep only the jar."""
    kept = jar.cached
    progress(f"fetching {jar.artifact} {jar.version} for Apache Hudi ({jar.size}, once) into {kept.parent}")
    ensure_java()
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        ivy, program = Path(folder) / "ivy", Path(folder) / "empty.py"
        program.touch()
        packages = ["--packages", f"{jar.group}:{jar.artifact}:{jar.version}", "--conf", f"spark.jars.ivy={ivy}"]
        if jar.excluded:
            packages += ["--exclude-packages", ",".join(jar.excluded)]
        command = [_spark_submit(), *packages, str(program)]
        environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
        run = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        fetched = ivy / "jars" / f"{jar.group}_{jar.artifact}-{jar.version}.jar"
        if run.returncode != 0 or not fetched.exists():
            raise _failure(jar, run.stdout + run.stderr)
        shutil.move(fetched, kept)
    progress(f"fetched {kept.name}")


def _failure(jar: Jar, output: str) -> EnvironmentFailure:
    found = _UNRESOLVED.search(output)
    name = f"Apache Hudi {jar.version} ({jar.artifact})"
    remedy = f"when online run: {command_for(jar.engine)}"
    if found:
        return Offline(f"{name} is not in the cache and could not be fetched: {found[0].strip()}; {remedy}")
    end = "\n".join(output.splitlines()[-15:])
    return EnvironmentFailure(f"{name} could not be fetched; {remedy}\n{end}")


def _spark_submit() -> str:
    import pyspark

    return str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
