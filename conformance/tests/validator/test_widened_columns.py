"""Services beside statements that widen a column twice: an integer that a service stored as a float has another text."""

from collections.abc import Callable
from functools import partial

import pyarrow as pa
import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL
from hudi_reference import WritableTable, cluster, compact, create_table, log_compact
from hudi_reference.clock import ManualClock
from hudi_reference.ids import RandomIds
from hudi_reference.storage import MemoryStorage

SCHEMA = {"type": "record", "name": "row", "fields": [
    {"name": "id", "type": "string"}, {"name": "size", "type": ["null", "int"], "default": None}]}  # fmt: skip
Service = Callable[[WritableTable], object]
SERVICES: dict[str, Service] = {
    "compaction": partial(compact, options={"hoodie.compact.inline.max.delta.commits": "1"}),
    "log compaction": partial(log_compact, options={"hoodie.log.compaction.blocks.threshold": "1"}),
    "clustering": cluster,
}


@pytest.mark.parametrize("kind", [pa.int32(), pa.int64()])
@pytest.mark.parametrize("name", SERVICES)
def test_a_service_between_two_wider_types_changes_no_row(name: str, kind: pa.DataType) -> None:
    """CMP-002, LCP-005 and TL-011: rows are compared as the service stored them, not as a text made of their first type."""
    table = create_table(
        "memory:///widened", name="widened", schema=SCHEMA, record_key=["id"], table_type="MERGE_ON_READ",
        storage=MemoryStorage(), clock=ManualClock(t.START), ids=RandomIds(),
        options={"hoodie.datasource.write.reconcile.schema": "true"},
    )  # fmt: skip
    for keys, value, stored in (["a", "b"], -83, kind), (["a"], -84, kind), (["b"], 1.5, pa.float64()):
        table.upsert(pa.table({"id": keys, "size": pa.array([value] * len(keys), stored)}))
    assert SERVICES[name](table) is not None
    table.upsert(pa.table({"id": ["c"], "size": ["x"]}))
    assert {row["id"]: row["size"] for row in table.snapshot().to_pylist()} == {"a": "-84.0", "b": "1.5", "c": "x"}
    assert not t.validated(table.storage, ALL).findings
