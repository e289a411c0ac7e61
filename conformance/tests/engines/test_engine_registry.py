"""Engines by name."""

import subprocess
import sys

import pytest

from hudi_conformance.engines import registry
from hudi_conformance.engines.support import environments
from hudi_conformance.engines.support.info import UnknownEngine


@pytest.mark.parametrize("info", registry.shipped(), ids=lambda info: info.name)
def test_every_shipped_engine_is_found_by_its_name(info):
    """And says in a few words what it is."""
    assert registry.find(info.name) is info
    assert info.summary


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("refrence", "did you mean reference"),
        ("no-such-program --fast", "neither an engine of the suite nor an executable program"),
        ("faulty:unknown", "there is no faulty engine 'unknown'"),
        ("double:unknown", "there is no faulty engine 'unknown'"),
        ("", "the name of the engine is empty"),
        ("python 'half", "nor a command line"),
    ],
)
def test_an_unknown_name_is_reported_with_the_known_ones(name, told):
    """A mistyped name must not look like a broken engine."""
    with pytest.raises(UnknownEngine, match=told):
        registry.find(name)


def test_an_engine_with_an_environment_is_run_by_its_python(monkeypatch):
    """The environment is made when the engine is started, not when it is looked up."""
    asked = []

    def python_for(extra, progress):
        asked.append(extra)
        return f"/envs/{extra}/bin/python"

    monkeypatch.setattr(environments, "python_for", python_for)
    info = registry.find("apache-hudi@1.0.2")
    assert asked == []
    command = info.command(lambda _: None)
    assert command == ("/envs/apache-hudi/bin/python", "-m", "hudi_conformance.engines.apache_hudi", "--version", "1.0.2")


def test_the_lookup_of_an_engine_imports_none():
    """The registry is imported in every engine's own environment, where the others' libraries are not."""
    code = (
        "import sys; from hudi_conformance.engines import registry; registry.find('hudi-rs');"
        "assert not {'hudi_reference', 'pyspark', 'hudi'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    ("name", "number"), [("reference", 60), ("apache-hudi-java@1.0.2", 20), ("apache-hudi@1.0.2", 4), ("python adapter.py", 4)]
)
def test_slow_engines_get_fewer_drawn_programs(name, number):
    """As many as their commits allow; an unknown adapter counts as slow."""
    assert registry.find(name).affordable(60, 4) == number
