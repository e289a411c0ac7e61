"""Keys of indexes: pairs of texts have different keys, and keys of several fields are looked up as a whole."""

import itertools
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    EVERY_INDEX,
    LISTED,
    RECORDS,
    WRITES,
    IndexedTable,
    values_where,
)

#: Characters that a key can encode wrongly, and one that it cannot.
LETTERS = ("$", "\\", "a")


def text_pairs(longest: int) -> list[tuple[str, str]]:
    """Return every pair of short texts of LETTERS."""
    texts = ["".join(word) for length in range(longest + 1) for word in itertools.product(LETTERS, repeat=length)]
    return list(itertools.product(texts, texts))


@pytest.mark.needs("compute.secondary-key.encode", "compute.secondary-key.decode")
@pytest.mark.requirements("IDX-025", "IDX-026", "IDX-024")
def test_every_pair_has_a_unique_reversible_key(engine: Client) -> None:
    """IDX-025: no two pairs of secondary value and record key have the same key, and each key decodes to its pair."""
    wanted = text_pairs(2)
    keys = [engine.compute("secondary-key.encode", {"secondary": value, "record": record}) for value, record in wanted]
    assert len(set(keys)) == len(wanted)
    found = [engine.compute("secondary-key.decode", {"key": key}) for key in keys]
    assert [(one["secondary"], one["record"]) for one in found] == wanted


#: Rows of two writes by the fields of their keys; the second one updates a row.
COMPOSITE: tuple[list[tuple[str, int]], ...] = ([("a", 7), ("b", 7), ("a,number:8", 7), ("c:1,d", 2)], [("a", 8), ("b", 7)])
_SEVERAL = pytest.param("members of a list", marks=pytest.mark.needs("read.filter.in"))
#: Comparisons that decide the whole key, and the values of the rows for which they hold.
WHOLE_KEYS: Mapping[str, Mapping[tuple[tuple[str, str, Any], ...], list[str]]] = {
    "the record key": {
        (("_hoodie_record_key", "=", "id:a,number:7"),): ["a 7 0"],
        (("_hoodie_record_key", "=", "id:b,number:7"),): ["b 7 1"],
        (("_hoodie_record_key", "=", "id:a,number:8"), ("id", "=", "a")): ["a 8 1"],
    },
    "each field": {
        (("id", "=", "a"), ("number", "=", 7)): ["a 7 0"],
        (("number", "=", 7), ("id", "=", "b")): ["b 7 1"],
        (("id", "=", "a,number:8"), ("number", "=", 7)): ["a,number:8 7 0"],
        (("id", "=", "c:1,d"), ("number", "=", 2)): ["c:1,d 2 0"],
        (("id", "=", "a"), ("number", ">", 7)): ["a 8 1"],
    },
    "members of a list": {
        (("_hoodie_record_key", "in", ("id:a,number:7", "id:b,number:7")),): ["a 7 0", "b 7 1"],
        (("id", "in", ("a", "b")), ("number", "in", (7, 8))): ["a 7 0", "a 8 1", "b 7 1"],
    },
}


@BOTH_TYPES
@pytest.mark.needs(*WRITES, "read.filter", "read.projection", "key.complex", "partition.none")
@pytest.mark.parametrize("by", ["the record key", "each field", _SEVERAL])
@pytest.mark.requirements("IDX-012", "PROP-007")
def test_a_key_of_several_fields_is_looked_up(engine: Client, new_uri: NewUri, type: Type, by: str) -> None:
    """IDX-012: the record index has keys of two fields. Comparisons of the record key and of both fields find its row; a value
    may contain the separators of the key.
    """
    uri = new_uri()
    kinds = {"id": "string", "number": "long", "ts": "long", "value": "string"}
    schema = {"type": "record", "name": "row", "fields": [{"name": name, "type": kind} for name, kind in kinds.items()]}
    engine.create(uri, TableSpec("keyed", type, schema, ("id", "number"), ordering=("ts",)))
    types = pa.schema([("id", pa.string()), ("number", pa.int64()), ("ts", pa.int64()), ("value", pa.string())])
    for time, keys in enumerate(COMPOSITE):
        rows = [{"id": key, "number": number, "ts": time, "value": f"{key} {number} {time}"} for key, number in keys]
        engine.write(uri, "upsert", pa.Table.from_pylist(rows, schema=types), options=dict(EVERY_INDEX))
    for where, values in WHOLE_KEYS[by].items():
        assert values_where(engine, uri, *where, column="value") == values, where


@pytest.mark.needs(*WRITES, "copy-on-write", "read.filter", "read.projection")
@pytest.mark.requirements("BLK-024", "IDX-012")
def test_keys_longer_than_an_hfile_can_store_are_refused(engine: Client, new_uri: NewUri) -> None:
    """BLK-024: the length of a key of an HFile is a signed number of two bytes. A row whose record key is longer cannot have an
    entry in a record index: its write is refused, and leaves an index in which the other keys are found. A key of 32,767
    bytes is stored.
    """
    table = IndexedTable(engine, new_uri(), "COPY_ON_WRITE", {**LISTED, **RECORDS})
    longest, two_bytes = "k" * 32_767, "\N{LATIN SMALL LETTER O WITH STROKE}" * 16_384
    table.write(Step("upsert", (row("a", 1, "x"), row(longest, 1, "longest"))))
    for key in ("k" * 32_768, two_bytes):
        with pytest.raises(ContractError):
            engine.write(table.uri, "upsert", as_arrow([row(key, 1, "long")]), options=table.settings)
    table.write(Step("upsert", (row("b", 1, "y"), row("a", 2, "z"))))
    for key in ("a", "b", longest):
        assert values_where(engine, table.uri, ("id", "=", key)) == [key], len(key)
    table.check_rows("after refused writes")
