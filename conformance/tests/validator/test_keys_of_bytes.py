"""Record keys of bytes are hexadecimal digits: the validator finds keys of another form."""

import pyarrow as pa
import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL
from hudi_reference import create_table, java_text
from hudi_reference.clock import ManualClock
from hudi_reference.ids import RandomIds
from hudi_reference.storage import MemoryStorage

FIELDS = [{"name": "id", "type": "bytes"}, {"name": "name", "type": "string"}]


@pytest.mark.parametrize(("form", "found"), [(bytes.hex, set()), ("[B@{}".format, {"META-007"})], ids=["digits", "an object"])
def test_keys_of_another_form_are_found(monkeypatch, form, found):
    """META-007: a key that shows a Java object in the place of the bytes is not the key of its row."""
    table = create_table(
        "memory:///bytes", name="bytes", schema={"type": "record", "name": "row", "fields": FIELDS}, record_key=["id"],
        storage=MemoryStorage(), clock=ManualClock(t.START), ids=RandomIds(),
    )  # fmt: skip
    with monkeypatch.context() as patched:
        patched.setattr(java_text, "value_text", form)
        table.bulk_insert(pa.table({"id": pa.array([b"\xff\x01", b"ab"]), "name": ["a", "b"]}))
    assert {finding.rule for finding in t.validated(table.storage, ALL).findings} == found
