"""Compactions in tables with a partial update mode, in which Apache Hudi fills columns from other versions than the reference."""

import pyarrow as pa
import pytest
from clause_places_samples import rewrite

from hudi_conformance.validator.all_checks import DEEP
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference import compact, create_table
from hudi_reference.storage import MemoryStorage

SCHEMA = {
    "type": "record", "name": "filled",
    "fields": [{"name": name, "type": ["null", "string"], "default": None} for name in ("id", "a", "b")],
}  # fmt: skip
COLUMNS = pa.schema([(name, pa.string()) for name in ("id", "a", "b")])


@pytest.mark.parametrize(
    ("mode", "value", "rules"),
    [
        ("IGNORE_DEFAULTS", "stored", set()),
        ("IGNORE_DEFAULTS", "never stored", {"CMP-002"}),
        (None, "stored", {"CMP-002"}),
    ],
)
def test_a_value_of_another_version_may_fill_a_column(mode: str | None, value: str, rules: set[str]) -> None:
    """ER-177: a row is deleted and stored again with a null, for which the base file of the compaction has the former value. No
    version has another value, and without the mode nothing is filled.
    """
    storage = MemoryStorage()
    table = create_table(
        "memory:filled", name="filled", schema=SCHEMA, record_key=("id",), table_type="MERGE_ON_READ", version=9,
        merge_mode="COMMIT_TIME_ORDERING", properties={} if mode is None else {"hoodie.table.partial.update.mode": mode},
        storage=storage,
    )  # fmt: skip
    table.upsert(pa.table([["k", "l"], ["stored", "kept"], ["x", "y"]], schema=COLUMNS))
    table.delete(pa.table({"id": ["k"]}))
    table.upsert(pa.table([["k"], [None], ["z"]], schema=COLUMNS))
    instant = compact(table, {"hoodie.compact.inline.max.delta.commits": "1"})
    (path,) = (one.path for one in storage.list("") if one.path.endswith(f"_{instant}.parquet"))

    def fill(rows: pa.Table) -> pa.Table:
        values = [
            value if key == "k" else one for key, one in zip(*(rows.column(n).to_pylist() for n in ("id", "a")), strict=True)
        ]
        return rows.set_column(rows.column_names.index("a"), rows.schema.field("a"), pa.array(values, pa.string()))

    rewrite(storage, path, fill)
    assert {one.rule for one in validate(load_table("memory:filled", storage=storage), DEEP).findings} == rules
