"""A table with two file groups, to which an engine writes beside slow writers of the reference."""

from dataclasses import dataclass
from itertools import count

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS
from hudi_conformance.suite.support.programs.write_programs import Row, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import Json, read_snapshot

#: Settings under which a compaction is due after every delta commit.
PLAN = {"hoodie.compact.inline.max.delta.commits": "1"}


@dataclass
class CompetingWriters:
    """A table of an engine: a and b in one file group of oslo, c in rio; each write gets a greater ordering value."""

    engine: Client
    uri: str

    def __post_init__(self) -> None:
        """Start the numbers of the writes."""
        self.numbers = count(10)

    def write(self, *ids: str, value: str = "quick", city: str = "oslo") -> str:
        """Upsert with the engine; return the instant."""
        rows = [row(id, next(self.numbers), value, city) for id in ids]
        return self.engine.write(self.uri, "upsert", as_arrow(rows), options=SEVERAL_WRITERS)

    def rows_of_slow_write(self, *ids: str, city: str = "oslo") -> list[Row]:
        """Return the rows of a slow write."""
        return [row(id, 100, "slow", city) for id in ids]

    def read_values(self) -> dict[str, str]:
        """Return the values of a snapshot by key; a key that occurs twice fails."""
        rows: list[Json] = read_snapshot(self.engine, self.uri)
        assert len({r["id"] for r in rows}) == len(rows), f"a key occurs twice: {rows}"
        return {r["id"]: r["value"] for r in rows}
