"""Apache Hudi's own classes, measured in a JVM by the Java programs beside this module."""

import json
import subprocess
from pathlib import Path
from typing import Any

from hudi_conformance.engines.apache_hudi.jvm.bundle import bundle
from hudi_conformance.engines.support.environments import ensure_java, python_for

VERSION = "1.0.2"


def run_program(*arguments: str, program: str = "ApacheHudi") -> dict[str, Any]:
    """The output of the program: medians of CPU seconds of its thread after a warm-up."""
    ensure_java()
    (jars,) = python_for("apache-hudi").parents[1].glob("lib/python*/site-packages/pyspark/jars")
    source = Path(__file__).with_name(f"{program}.java")
    command = ["java", "-cp", f"{bundle(VERSION)}:{jars}/*", str(source), *arguments]
    found: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()[-1])
    return found
