"""Random programs: any filter selects the same rows with and without the indexes of the metadata table."""

from collections import Counter
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hudi_reference import compact, create_table, open_table
from hudi_reference.storage import MemoryStorage

FIELDS = (("id", "string"), ("ts", "long"), ("p", "string"), ("n", "int"), ("d", "double"), ("s", "string"))
SCHEMA = {"type": "record", "name": "t", "fields": [{"name": n, "type": ["null", k], "default": None} for n, k in FIELDS]}
TYPES = pa.schema(
    [("id", pa.string()), ("ts", pa.int64()), ("p", pa.string()), ("n", pa.int32()), ("d", pa.float64()), ("s", pa.string())]
)
INDEXES = {
    "hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true", "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.record.index.enable": "true", "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.compact.inline.max.delta.commits": "1",
}  # fmt: skip
NUMBERS = (None, -3, 0, 2, 7)
FLOATS = (None, -1.5, -0.0, 0.0, 2.5, float("nan"))
TEXTS = (None, "", "a", "b", "\ue000", "\U0001f600", "zz")
KEYS = {"a": "x", "b": "x", "c": "y", "d": "y", "e": "z"}

ROW = st.fixed_dictionaries(
    {
        "id": st.sampled_from(sorted(KEYS)),
        "n": st.sampled_from(NUMBERS),
        "d": st.sampled_from(FLOATS),
        "s": st.sampled_from(TEXTS),
    }
)
STEP = st.one_of(
    st.tuples(st.just("upsert"), st.lists(ROW, min_size=1, max_size=4, unique_by=lambda row: row["id"])),
    st.tuples(st.just("delete"), st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=2, unique=True)),
    st.tuples(st.just("compact"), st.just([])),
)
COMPARISON = st.sampled_from(
    [(column, operator, value) for column, values in (("n", NUMBERS), ("d", FLOATS), ("s", TEXTS), ("id", ("a", "c", "none")), ("p", ("x", "q")))
     for value in values if value is not None and str(value) != "nan" for operator in ("=", "!=", "<", "<=", ">", ">=")]
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["COPY_ON_WRITE", "MERGE_ON_READ"]),
    st.lists(STEP, min_size=1, max_size=5),
    st.lists(st.lists(COMPARISON, min_size=1, max_size=2), min_size=8, max_size=16),
)
def test_no_filter_loses_a_row(kind: Any, steps: list[Any], filters: list[Any]) -> None:
    """MDT-010: after updates that move values between ranges, nulls, NaN, deletes and compactions."""
    storage = MemoryStorage()
    table = create_table("memory:", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), ordering=("ts",), table_type=kind,
                         storage=storage, options=INDEXES)  # fmt: skip
    for ts, (step, content) in enumerate([("upsert", [{"id": "a", "n": 1, "d": 1.0, "s": "m"}]), *steps]):
        if step == "upsert":
            table.upsert(pa.Table.from_pylist([{**row, "ts": ts, "p": KEYS[row["id"]]} for row in content], schema=TYPES))
        elif step == "delete":
            table.delete(pa.table({"id": content, "p": [KEYS[key] for key in content]}))
        elif kind == "MERGE_ON_READ":
            compact(table)
    indexed = open_table("memory:", storage=storage)
    plain = open_table("memory:", storage=storage, options={"hoodie.metadata.enable": "false"})
    assert {"column_stats", "record_index"} <= set(indexed.properties.fields("hoodie.table.metadata.partitions"))
    for where in filters:
        for read in ("snapshot", "read_optimized"):
            found, wanted = (Counter(map(repr, getattr(t, read)(None, where).to_pylist())) for t in (indexed, plain))
            assert found == wanted, (read, where)
