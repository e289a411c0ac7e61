"""The table of fast paths: it names the functions that choose, and the plain code can be forced everywhere."""

import importlib
import inspect
import pkgutil

import pyarrow as pa
import pytest

import hudi_reference
from hudi_reference.fast_paths import VARIABLE, FastPath, use_fast
from hudi_reference.files.bloom.bloom import make_filter
from hudi_reference.files.bloom.fast import murmur_columns
from hudi_reference.files.log import content


@pytest.mark.parametrize("path", FastPath)
def test_the_function_that_the_table_names_makes_the_choice(path: FastPath) -> None:
    """Each fast path is chosen in one place, the one that the table says."""
    module, _, function = path.value[0].partition(":")
    source = inspect.getsource(getattr(importlib.import_module(f"hudi_reference.{module}"), function))
    assert f"use_fast(FastPath.{path.name}," in source
    modules = [found.name for found in pkgutil.walk_packages(hudi_reference.__path__, "hudi_reference.")]
    uses = [name for name in modules if f"FastPath.{path.name}," in inspect.getsource(importlib.import_module(name))]
    assert uses == [f"hudi_reference.{module}"]


@pytest.mark.parametrize("path", FastPath)
def test_small_inputs_and_the_setting_take_the_plain_code(path: FastPath, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least size is the first that takes the fast code, unless the environment variable is set."""
    for text, is_fast in (("", True), ("0", True), ("1", False), ("yes", False)):
        monkeypatch.setenv(VARIABLE, text)
        assert use_fast(path, path.least) is is_fast
        assert use_fast(path, path.least - 1) is False


def test_no_fast_code_runs_while_the_setting_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the setting, large inputs take the plain code too, and the result is the same."""
    keys = pa.array([f"key-{number}" for number in range(100)])
    schema = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "string"}]}
    rows = pa.table({"id": [str(number) for number in range(2000)]})

    def made() -> tuple[object, ...]:
        return make_filter(keys, entries=100), content.encode_rows(rows, schema)

    monkeypatch.delenv(VARIABLE, raising=False)
    fast = made()
    monkeypatch.setenv(VARIABLE, "1")
    for module, name in ((murmur_columns, "_positions"), (content, "encode_avro_columns")):
        monkeypatch.delattr(module, name)
    assert made() == fast
