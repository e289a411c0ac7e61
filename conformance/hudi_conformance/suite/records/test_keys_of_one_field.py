"""Keys of a complex key generator with one key field.

At version 8 a setting of the writer, which no table stores, decides whether they have the name of the field. The defaults of
releases differ (ER-276).
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from hudi_conformance.contract import EngineError, Query, Refused
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.keyed_rows import WRITES, as_arrow, create_table, make_row
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES

SETTING = "hoodie.write.complex.keygen.new.encoding"


@BOTH_TYPES
@pytest.mark.requirements("META-007", "PROP-017")
@pytest.mark.needs(*WRITES, "write.delete", "partition.plain", "partition.several-levels", "key.complex")
@pytest.mark.parametrize(("first", "second"), [("true", "false"), ("false", "true"), ("false", None)])
@pytest.mark.versions(8)
def test_keys_of_writers_with_different_settings(
    engine: Client, new_uri: Callable[[], str], type: Any, first: str, second: str | None
) -> None:
    """META-007: a writer with another setting than the earlier ones, or without one, refuses to write, or finds the record
    under the key that it has; it never stores it twice, and deletes it where it says so.
    """
    uri = new_uri()
    create_table(engine, uri, type, record_key=("id",), partition=("q", "p"))
    for key in ("a", "b", "c"):
        engine.write(uri, "upsert", as_arrow(make_row(key, 7)), options={SETTING: first})
    options, expected = {} if second is None else {SETTING: second}, {("a", "old"), ("b", "old"), ("c", "old")}
    with suppress(Refused, EngineError):
        engine.write(uri, "upsert", as_arrow(make_row("a", 7, name="new")), options=options)
        expected = expected - {("a", "old")} | {("a", "new")}
    with suppress(Refused, EngineError):
        engine.write(uri, "delete", as_arrow(make_row("b", 7)).select(["id", "q", "p"]), options=options)
        expected -= {("b", "old")}
    found = engine.read(uri, Query(columns=("id", "name"))).to_pylist()
    assert sorted((one["id"], one["name"]) for one in found) == sorted(expected)
