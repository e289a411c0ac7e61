"""What rows are right after any list of operations, worked out over dictionaries.

A second derivation of the rules, beside the reference: it imports nothing of ours and no Arrow, knows neither files nor
timelines, and is short enough to be checked by reading. Rows are dictionaries from column to value.

>>> table = Model(record_key=("id",), ordering=("ts",), merge_mode="EVENT_TIME_ORDERING", table_type="MERGE_ON_READ")
>>> table.apply("upsert", [{"id": "a", "ts": 10, "name": "new"}])
>>> table.apply("upsert", [{"id": "a", "ts": 9, "name": "late"}])
>>> table.snapshot()
[{'id': 'a', 'ts': 10, 'name': 'new'}]
"""

from hudi_conformance.model.merge import Record, at_least
from hudi_conformance.model.table import Model, Operation

__all__ = ["Model", "Operation", "Record", "at_least"]
