"""Engines by name."""

import subprocess
import sys

import pytest

from hudi_conformance.engines import registry
from hudi_conformance.engines.support import environments
from hudi_conformance.engines.support.info import UnknownEngine


@pytest.mark.parametrize("info", registry.shipped(), ids=lambda info: info.name)
def test_every_shipped_engine_is_found_by_its_name(info):
    """Each shipped engine has a name and a short description."""
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
    """A mistyped name must not be reported as a broken engine."""
    with pytest.raises(UnknownEngine, match=told):
        registry.find(name)


def test_engine_runs_with_the_python_of_its_environment(monkeypatch):
    """The environment is created when the engine starts, not when it is looked up."""
    asked = []

    def python_for(extra, progress):
        asked.append(extra)
        return f"/envs/{extra}/bin/python"

    monkeypatch.setattr(environments, "python_for", python_for)
    info = registry.find("apache-hudi@1.0.2")
    assert asked == []
    command = info.command(lambda _: None)
    assert command == ("/envs/apache-hudi/bin/python", "-m", "hudi_conformance.engines.apache_hudi", "--version", "1.0.2")


def test_lookup_imports_no_engine():
    """The registry is imported in each engine's environment, which does not have the libraries of the others.

    Of the reference it has the limits, which need no library.
    """
    code = (
        "import sys; from hudi_conformance.engines import registry; registry.find('hudi-rs');"
        "ours = {name for name in sys.modules if name.startswith('hudi_reference.')};"
        "assert ours <= {'hudi_reference.limits', 'hudi_reference.errors'}, ours;"
        "assert not {'pyspark', 'hudi'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    ("name", "number"), [("reference", 60), ("apache-hudi-java@1.0.2", 20), ("apache-hudi@1.0.2", 4), ("python adapter.py", 4)]
)
def test_slow_engines_get_fewer_random_programs(name, number):
    """The number depends on the time of a commit; an unknown adapter counts as slow."""
    assert registry.find(name).affordable(60, 4) == number
