"""The output of `doctor` and `engines`, which neither start nor download anything."""

import re

import pytest
from rich.text import Text
from typer.testing import CliRunner

from hudi_conformance.cli import app
from hudi_conformance.commands.adapters import doctor
from hudi_conformance.commands.adapters.engines import ask_hello
from hudi_conformance.contract import Hello
from hudi_conformance.engines import registry
from hudi_conformance.engines.apache_hudi.jvm.bundle import cached_bundle
from hudi_conformance.engines.apache_hudi_java.jars import client
from hudi_conformance.engines.support import environments
from hudi_conformance.engines.support.info import UnknownEngine


@pytest.fixture
def bare(tmp_path, monkeypatch) -> None:
    """A machine with Python only, and without network."""
    monkeypatch.setenv("HUDI_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(environments, "machine_java", lambda: None)
    monkeypatch.setattr(doctor, "is_index_reachable", lambda: False)
    monkeypatch.setattr(doctor, "check_object_store", lambda: "object store: not asked")


def run(*arguments: str) -> str:
    """The output of a command that succeeds."""
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.usefixtures("bare")
def test_doctor_prints_one_install_command_per_engine():
    """The reference runs on each machine; for each other engine one command installs all requirements."""
    told = run("doctor")
    for info in registry.shipped():
        diagnosis = doctor.diagnose(info)
        assert diagnosis.ready == (info.name == "reference")
        assert (f"hudi-conformance doctor --make {info.name}" in told) == (info.name != "reference")
    assert "cannot be reached" in told


@pytest.mark.usefixtures("bare")
def test_engine_is_ready_if_all_requirements_are_installed(monkeypatch):
    """Apache Hudi needs environment, Java and its jar; the Java client needs its own jar too."""
    info = registry.find("apache-hudi@1.0.2")
    assert {piece.name for piece in doctor.diagnose(info).pieces if not piece.there} == {"java", "environment", "jar"}
    stamp = environments.environment_folder("apache-hudi") / ".complete"
    stamp.parent.mkdir(parents=True)
    stamp.touch()
    assert {piece.name for piece in doctor.diagnose(info).pieces if not piece.there} == {"jar"}
    cached_bundle("1.0.2").parent.mkdir()
    cached_bundle("1.0.2").touch()
    assert doctor.diagnose(info).ready
    assert not doctor.diagnose(registry.find("apache-hudi@1.2.0")).ready

    on_java = registry.find("apache-hudi-java@1.0.2")
    assert [(piece.name, piece.there) for piece in doctor.diagnose(on_java).pieces][-2:] == [("jar", True), ("jar", False)]
    client("1.0.2").cached.touch()
    assert doctor.diagnose(on_java).ready


@pytest.mark.usefixtures("bare")
def test_engines_without_an_adapter_are_told_with_the_reason():
    """doctor and engines print the reason, and so does an attempt to run the engine."""
    name = "trino"
    reason = registry.without_adapter()[name]
    assert f"{name}: no adapter; {reason}" in run("doctor")
    assert f"{name}: no adapter; {reason}" in run("engines", "--no-ask")
    with pytest.raises(UnknownEngine, match=re.escape(reason)):
        registry.find(name)


@pytest.mark.usefixtures("bare")
def test_failed_installation_has_exit_code_3(monkeypatch):
    """With the reason and the command for another attempt, and without a stack trace."""

    def offline(extra, progress):
        raise environments.Offline(f"{extra} is out of reach")

    monkeypatch.setattr(environments, "python_for", offline)
    result = CliRunner().invoke(app, ["doctor", "--make", "hudi-rs"])
    assert result.exit_code == 3
    assert "hudi-rs is out of reach" in result.output


def test_an_unknown_engine_is_a_usage_error():
    """Usage errors have exit code 2 and name the engines that can be installed."""
    result = CliRunner().invoke(app, ["doctor", "--make", "hudi-cobol"])
    assert result.exit_code == 2
    assert "apache-hudi@1.0.2" in result.output


@pytest.mark.usefixtures("bare")
def test_engines_lists_available_engines_and_install_commands():
    """The version of the reference is shown; a missing engine has its install command."""
    told = run("engines", "--features")
    assert "in this process" in told
    assert "merge.event-time" in told
    answer = ask_hello(registry.find("hudi-rs"))
    assert answer == "not installed: hudi-conformance doctor --make hudi-rs"
    assert isinstance(ask_hello(registry.find("reference")), Hello)


@pytest.mark.s3
def test_doctor_tests_the_object_store() -> None:
    """The emulated object store is started for a short time, and its guarantees are reported."""
    pytest.importorskip("moto.server")
    assert doctor.check_object_store().startswith("object store: moto's server behind the proxy keeps all 6 promises")


def test_doctor_names_the_extra_of_the_object_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the emulation is not installed, doctor names the extra that installs it."""
    from hudi_conformance.processes import object_store

    monkeypatch.setattr(object_store.importlib.util, "find_spec", lambda name: None)
    told = Text.from_markup(doctor.check_object_store()).plain
    assert told == "object store: none (moto is not installed: pip install 'hudi-conformance[s3]')"
