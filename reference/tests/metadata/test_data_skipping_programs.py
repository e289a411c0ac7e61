"""Random programs: any filter selects the same rows with and without the indexes of the metadata table."""

from collections import Counter
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hudi_reference import compact, create_index, create_table, open_table
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
    "hoodie.compact.inline.max.delta.commits": "1", "hoodie.index.type": "RECORD_INDEX",
    "hoodie.record.index.update.partition.path": "true",
}  # fmt: skip
NUMBERS = (None, -3, 0, 2, 7)
FLOATS = (None, -1.5, -0.0, 0.0, 2.5, float("nan"))
TEXTS = (None, "", "a", "b", "\ue000", "\U0001f600", "zz")

ROW = st.fixed_dictionaries(
    {
        "id": st.sampled_from("abcde"),
        "p": st.sampled_from("xyz"),
        "n": st.sampled_from(NUMBERS),
        "d": st.sampled_from(FLOATS),
        "s": st.sampled_from(TEXTS),
    }
)
STEP = st.one_of(
    st.tuples(st.just("upsert"), st.lists(ROW, min_size=1, max_size=4, unique_by=lambda row: row["id"])),
    st.tuples(st.just("delete"), st.lists(st.sampled_from("abcde"), min_size=1, max_size=2, unique=True)),
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
    """MDT-010: after updates that move values between ranges and records between partitions, nulls, NaN, deletes, compactions."""
    storage = MemoryStorage()
    table = create_table("memory:", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), ordering=("ts",), table_type=kind,
                         storage=storage, options=INDEXES)  # fmt: skip
    table.upsert(pa.Table.from_pylist([{"id": "a", "ts": 0, "p": "x", "n": 1, "d": 1.0, "s": "m"}], schema=TYPES))
    for column in ("s", "n"):
        create_index(table, f"by_{column}", column)
    for ts, (step, content) in enumerate(steps, 1):
        if step == "upsert":
            table.upsert(pa.Table.from_pylist([{**row, "ts": ts} for row in content], schema=TYPES))
        elif step == "delete":
            table.delete(pa.table({"id": content}))
        elif kind == "MERGE_ON_READ":
            compact(table)
    indexed = open_table("memory:", storage=storage)
    plain = open_table("memory:", storage=storage, options={"hoodie.metadata.enable": "false"})
    assert {"column_stats", "record_index", "secondary_index_by_s", "secondary_index_by_n"} <= set(
        indexed.properties.fields("hoodie.table.metadata.partitions")
    )
    for where in filters:
        for read in ("snapshot", "read_optimized"):
            found, wanted = (Counter(map(repr, getattr(t, read)(None, where).to_pylist())) for t in (indexed, plain))
            assert found == wanted, (read, where)
