"""Values of table properties in capital and in small letters: Apache Hudi reads booleans and some other values in any case."""

from dataclasses import replace

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Query
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import Program, Row, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri
from hudi_conformance.suite.support.tables.written_tables import table_folder

#: Key -> its value as writers store it, and with the letters of a user.
VALUES = {
    "hoodie.populate.meta.fields": ("false", "FALSE"),
    "hoodie.record.merge.mode": ("COMMIT_TIME_ORDERING", "commit_time_ordering"),
    "hoodie.table.cdc.supplemental.logging.mode": ("OP_KEY_ONLY", "op_key_only"),
}
pytestmark = pytest.mark.versions(8)

CHANGES = {"hoodie.table.cdc.enabled": "true"}


def written_table(uri: str, key: str) -> list[Row]:
    """Write a table with the property as writers store it, and replace its value; return the rows of the last versions."""
    stored, typed = VALUES[key]
    given = {key: stored} | (CHANGES if "cdc" in key else {})
    with connect("reference") as writer:
        writer.create(uri, replace(Program("COPY_ON_WRITE", "COMMIT_TIME_ORDERING", True).spec(), properties=given))
        writer.write(uri, "upsert", as_arrow([row("a", 9, "first"), row("b", 1, "first", "rio")]))
        writer.write(uri, "upsert", as_arrow([row("a", 1, "second")]))
    path = table_folder(uri) / ".hoodie" / "hoodie.properties"
    text = path.read_text(encoding="latin-1")
    assert f"{key}={stored}\n" in text
    path.write_text(text.replace(f"{key}={stored}\n", f"{key}={typed}\n"), encoding="latin-1")
    return [{"id": "a", "city": "oslo", "value": "second"}, {"id": "b", "city": "rio", "value": "first"}]


READS = ("read.projection", "copy-on-write", "partition.plain", "merge.commit-time")
NO_META_COLUMNS = pytest.param("hoodie.populate.meta.fields", marks=pytest.mark.needs("meta-fields.absent"))


@pytest.mark.needs(*READS, "read.snapshot")
@pytest.mark.parametrize("key", [NO_META_COLUMNS, "hoodie.record.merge.mode"])
@pytest.mark.requirements("PROP-001")
def test_the_case_of_a_value_does_not_matter(engine: Client, new_uri: NewUri, key: str) -> None:
    """PROP-001: the setting holds for every reader: TRUE is true. Apache Hudi stores a value as a user has written it into
    the definition of the table, and reads it.
    """
    expected = written_table(uri := new_uri(), key)
    found = engine.read(uri, Query(columns=("id", "city", "value"))).to_pylist()
    assert sorted(found, key=lambda one: one["id"]) == expected


@pytest.mark.needs(*READS, "read.cdc")
@pytest.mark.requirements("PROP-001")
def test_changes_with_a_mode_in_small_letters(engine: Client, new_uri: NewUri) -> None:
    """PROP-001: the mode says what the logs of changes have: with keys alone, readers look up the images."""
    written_table(uri := new_uri(), "hoodie.table.cdc.supplemental.logging.mode")
    found = engine.read(uri, Query("cdc")).to_pylist()
    assert sorted(one["op"] for one in found) == ["i", "i", "u"]
