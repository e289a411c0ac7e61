"""Columns whose type a write has widened: the values of earlier files, read and stored again."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.renamed_columns import GROWING

#: Decimal fractions that are no binary ones; the first number of single precision that is not a whole one of less digits.
NUMBERS = {"a": 1.1, "b": -0.3, "c": 3.25, "d": 1e-7}


def schema_with(kind: str) -> dict[str, Any]:
    """Return the schema of texts and numbers of that type."""
    fields = [{"name": "id", "type": "string"}, {"name": "n", "type": ["null", kind], "default": None}]
    return {"type": "record", "name": "numbers", "fields": fields}


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "partition.none", "schema.evolution")
@BOTH_TYPES
@pytest.mark.parametrize("updated", ["a", "e"], ids=["an update of the file", "a new key"])
@pytest.mark.requirements("LF-038")
def test_floats_become_the_doubles_of_their_texts(engine: Client, new_uri: Callable[[], str], type: str, updated: str) -> None:
    """LF-038: a write stores doubles in a column of floats. An earlier 1.1 is 1.1 as before, and not 1.10000002384, whether its
    file is as it was or was written again.
    """
    uri = new_uri()
    engine.create(uri, TableSpec("numbers", type, schema_with("float"), ("id",), merge_mode="COMMIT_TIME_ORDERING"))
    floats = pa.array(list(NUMBERS.values()), pa.float32())
    engine.write(uri, "upsert", pa.table({"id": list(NUMBERS), "n": floats}))
    engine.write(uri, "upsert", pa.table({"id": [updated], "n": pa.array([0.1], pa.float64())}), options=GROWING)
    found = engine.read(uri, Query(columns=("id", "n"))).to_pylist()
    assert {row["id"]: row["n"] for row in found} == {**NUMBERS, updated: 0.1}
