"""The answers of the reference to all queries of a table: from folders, through the metadata table, and by its indexes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from hudi_reference import open_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError
from hudi_reference.query.pruning.predicates import Comparison
from hudi_reference.storage import MemoryStorage

URI = "memory:///drawn"
#: Years after all golden tables were made, so that no writer can be at work.
LATER = 2_000_000_000_000


def answers(storage: MemoryStorage, filters: Sequence[Comparison]) -> dict[str, object]:
    """The answer of each query, or the class of its error; filters with data skipping."""
    listed = _queries(storage, {"hoodie.metadata.enable": "false"}, ())
    skipped = _queries(storage, {"hoodie.metadata.enable": "true"}, filters)
    return {f"{one} by folders": rows for one, rows in listed.items()} | {f"{one} by metadata": r for one, r in skipped.items()}


def _queries(storage: MemoryStorage, options: Mapping[str, str], filters: Sequence[Comparison]) -> dict[str, object]:
    found: dict[str, object] = {}

    def ask(name: str, query: Callable[[Any], pa.Table]) -> None:
        try:
            table = open_table(URI, storage=storage, clock=ManualClock(LATER), options=dict(options))
            found[name] = sorted(map(repr, query(table).to_pylist()))
        except (HudiError, FileNotFoundError) as error:
            found[name] = type(error).__name__

    ask("snapshot", lambda table: table.snapshot())
    ask("read-optimized", lambda table: table.read_optimized())
    ask("incremental", lambda table: table.incremental("00000000000000000"))
    for one in filters:
        ask(f"where {one}", lambda table, one=one: table.snapshot(where=[one]))
    return found


def filters_of(storage: MemoryStorage) -> list[Comparison]:
    """Filters by the least and the greatest value of each column of texts and integers."""
    found: list[Comparison] = []
    try:
        rows = open_table(
            URI, storage=storage, clock=ManualClock(LATER), options={"hoodie.metadata.enable": "false"}
        ).snapshot()
    except HudiError:
        return found
    for field_of_rows in rows.schema:
        if pa.types.is_string(field_of_rows.type) or pa.types.is_integer(field_of_rows.type):
            values = sorted(rows.column(field_of_rows.name).drop_null().unique().to_pylist())
            found += [(field_of_rows.name, "=", one) for one in dict.fromkeys((*values[:1], *values[-1:]))]
    return found
