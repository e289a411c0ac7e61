"""The rounds of one table with default settings, in which Apache Hudi and the reference take turns."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference import Table, WritableTable, clean, cluster, compact, open_table
from hudi_reference.metadata.indexes.all import index_of
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.schema.avro import META_COLUMNS

Rows = Sequence[tuple[Any, ...]]
#: A filter in SQL, and the same of the reference.
FILTERS: Sequence[tuple[str, Sequence[tuple[str, str, Any]]]] = (
    ("", ()),
    ("n > 50", (("n", ">", 50),)),
    ("n = 7", (("n", "=", 7),)),
    ("d < -20.5", (("d", "<", -20.5),)),
    ("name = 'w-3'", (("name", "=", "w-3"),)),
    ("name >= 'w-9'", (("name", ">=", "w-9"),)),
    ("ts <= 4", (("ts", "<=", 4),)),
    ("p = 'x' and n > 5", (("p", "=", "x"), ("n", ">", 5))),
    ("day < date'1970-02-01'", ()),
    ("big > 60.5", ()),
    ("n is null", ()),
    ("n is not null", ()),
    ("s.a = 3", ()),
    ("id = 'k1'", (("id", "=", "k1"),)),
)


@dataclass(frozen=True)
class Kind:
    """A kind of table: its name and the settings of its writers that differ from the defaults."""

    name: str
    type: str
    partition: str
    settings: Mapping[str, str] = field(default_factory=dict)

    def options(self) -> dict[str, str]:
        """The options of the data source."""
        return {
            "hoodie.table.name": self.name,
            "hoodie.datasource.write.table.type": self.type,
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.partitionpath.field": self.partition,
            **self.settings,
        }


KINDS = (
    Kind("copy-on-write", "COPY_ON_WRITE", "p"),
    Kind("merge-on-read-compacted", "MERGE_ON_READ", "p", {"hoodie.compact.inline": "true",
                                                          "hoodie.compact.inline.max.delta.commits": "2"}),
    Kind("merge-on-read", "MERGE_ON_READ", ""),
)  # fmt: skip


class Round:
    """One table and the engine that shares it; `found` are the comparisons that failed."""

    def __init__(self, ask: Callable[..., Any], kind: Kind, folder: Path) -> None:
        self.ask, self.kind, self.path = ask, kind, folder / kind.name
        self.found: list[str] = []
        self.compared = 0

    def run(self) -> None:
        """All steps."""
        self.hudi("insert", [_row(f"k{n}", n, "xy"[n % 2]) for n in range(1, 11)], mode="overwrite")
        self.hudi("upsert", [_row("k1", 21, "y"), _row("k2", 22, "x"), _row("new", 60, "x"), _row("none", 61, "z", null=True)])
        self.hudi("delete", [_row("k5", 99, "y")])
        self.hudi("upsert", [_row("k9", 70, "y")])
        self.compare("as made")
        for act in _WRITES:
            act(self.table)
        self.compare("after four writes of the reference")
        for serve in self._services():
            serve(self.table)
        self.compare("after services of the reference")
        self.hudi("upsert", [_row("k3", 90, "y"), _row("later", 91, "z")])
        self.hudi("delete", [_row("k4", 99, "x")])
        self.compare("after Hudi wrote on")
        _WRITES[1](self.table)
        self.compare("after both wrote")

    @property
    def table(self) -> WritableTable:
        """The table as the reference sees it."""
        return open_table(self.path.as_uri())

    def hudi(self, operation: str, rows: Sequence[str], mode: str = "append") -> None:
        """One write of Apache Hudi."""
        self.ask("write", path=str(self.path), rows=rows, options=self.kind.options(), operation=operation, mode=mode)

    def _services(self) -> list[Callable[[WritableTable], object]]:
        found: list[Callable[[WritableTable], object]] = [
            lambda table: cluster(table, {"hoodie.clustering.plan.strategy.sort.columns": "n"}),
            lambda table: clean(table, {"hoodie.clean.commits.retained": "1"}),
        ]
        if self.kind.type == "MERGE_ON_READ":
            found.insert(0, lambda table: compact(table, {"hoodie.compact.inline.max.delta.commits": "1"}))
        return found

    def compare(self, when: str) -> None:
        """Compare the rows, filtered by each filter, and the statistics in the metadata table."""
        rows = self.ask("read", path=str(self.path), filters=[sql for sql, _ in FILTERS])
        table = self.table
        for (sql, where), (skipped, listed) in zip(FILTERS, rows, strict=True):
            self._expect(f"{when}: Hudi, {sql or 'all rows'}, with and without data skipping", skipped, listed)
            if where or not sql:
                self._expect(f"{when}: reference and Hudi, {sql or 'all rows'}", _texts(table, where), _sorted(listed))
        for partition in ("column_stats", "partition_stats"):
            self._check_statistics(when, table, partition)

    def _check_statistics(self, when: str, table: Table, partition: str) -> None:
        metadata = MetadataTable.of(table)
        if metadata is None or partition not in table.properties.fields("hoodie.table.metadata.partitions"):
            if partition == "column_stats" or self.kind.partition:
                self.found.append(f"{when}: no {partition}")
            return
        stored = {key: record.payload for key, record in metadata.records(partition, table.timeline).items()}
        expected = {record.key: record.payload for record in index_of(table, partition).whole(table, table.view())}
        self._expect(f"{when}: keys of {partition}", sorted(stored), sorted(expected))
        self.compared += 1

    def _expect(self, what: str, found: Sequence[Any], expected: Sequence[Any]) -> None:
        self.compared += 1
        if list(found) != list(expected):
            missing = [one for one in expected if one not in found]
            more = [one for one in found if one not in expected]
            self.found.append(f"{what}: {len(found)} and {len(expected)}; missing {missing[:3]}, more {more[:3]}")


def _row(key: str, n: int, p: str, *, null: bool = False) -> str:
    """A row as a SQL expression."""
    if null:
        return f"('{key}', {n}, '{p}', null, null, null, date'2020-01-01', null, null)"
    day = f"date_add(date'1970-01-01', {n})"
    return f"('{key}', {n}, '{p}', 'w-{n}', {n}, {-n * 1.5}, {day}, {n * 1.01:.2f}, named_struct('a', {n}))"


def _texts(table: Table, where: Sequence[tuple[str, str, Any]]) -> list[str]:
    rows = table.snapshot(where=where)
    rows = rows.drop_columns([name for name in rows.column_names if name in META_COLUMNS])
    return _sorted([json.dumps(row, default=str) for row in rows.to_pylist()])


def _sorted(texts: Sequence[str]) -> list[str]:
    """Rows as texts that do not depend on the engine: without nulls, numbers as floats."""
    return sorted(json.dumps(_plain(json.loads(text)), sort_keys=True) for text in texts)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items() if one is not None}
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _changed(table: WritableTable, keys: Sequence[str], n: int) -> pa.Table:
    """The rows of these keys with other numbers."""
    rows = table.snapshot()
    rows = rows.filter(pc.is_in(rows.column("id"), pa.array(keys)))
    rows = rows.drop_columns([name for name in rows.column_names if name in META_COLUMNS])
    for name, value in (("ts", n), ("n", n), ("name", f"w-{n}")):
        place = rows.column_names.index(name)
        rows = rows.set_column(place, rows.schema.field(name), pa.array([value] * rows.num_rows, rows.schema.field(name).type))
    return rows


def _inserted(table: WritableTable) -> str:
    rows = _changed(table, ["k1", "k2"], 40)
    keys = pc.binary_join_element_wise(rows.column("id"), pa.scalar("of-reference"), "-")
    return table.insert(rows.set_column(0, rows.schema.field("id"), keys))


#: Insert, upsert, delete, upsert.
_WRITES: tuple[Callable[[WritableTable], object], ...] = (
    _inserted,
    lambda table: table.upsert(_changed(table, ["k3", "k4"], 107)),
    lambda table: table.delete(_changed(table, ["k6"], 108)),
    lambda table: table.upsert(_changed(table, ["k2", "k7"], 109)),
)
