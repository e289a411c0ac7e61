"""A model of a table over dictionaries: the expected rows after any list of operations.

It derives the rules independently of the reference: it imports no other package of the project and no Arrow, has no files,
and is short enough to be checked by reading. Rows are dictionaries from column to value.

>>> table = Model(record_key=("id",), ordering=("ts",), merge_mode="EVENT_TIME_ORDERING", table_type="MERGE_ON_READ")
>>> table.apply("upsert", [{"id": "a", "ts": 10, "name": "new"}])
>>> table.apply("upsert", [{"id": "a", "ts": 9, "name": "late"}])
>>> table.snapshot()
[{'id': 'a', 'ts': 10, 'name': 'new'}]

What may be changed here: what the specification promises of rows, in plain Python.
"""

from hudi_conformance.model.merge import Record, at_least
from hudi_conformance.model.table import Model, Operation

__all__ = ["Model", "Operation", "Record", "at_least"]
