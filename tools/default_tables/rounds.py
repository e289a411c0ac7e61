"""The rounds of one table with default settings, in which Apache Hudi and the reference take turns."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tools.default_tables.kinds import CHANGED, TEN, Kind, Row, Write

from hudi_reference import Table, WritableTable, clean, cluster, compact, open_table
from hudi_reference.metadata.indexes.all import index_of
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.schema.avro import META_COLUMNS

#: A filter in SQL, and the same of the reference; the first ones differ most from each other.
FILTERS: Sequence[tuple[str, Sequence[tuple[str, str, Any]]]] = (
    ("", ()),
    ("n > 50", (("n", ">", 50),)),
    ("name = 'w-3'", (("name", "=", "w-3"),)),
    ("p = 'x' and n > 5", (("p", "=", "x"), ("n", ">", 5))),
    ("day < date'1970-02-01'", ()),
    ("id = 'k1'", (("id", "=", "k1"),)),
    ("big > 60.5", ()),
    ("n = 7", (("n", "=", 7),)),
    ("d < -20.5", (("d", "<", -20.5),)),
    ("name >= 'w-9'", (("name", ">=", "w-9"),)),
    ("ts <= 4", (("ts", "<=", 4),)),
    ("n is null", ()),
    ("n is not null", ()),
    ("s.a = 3", ()),
)

#: Columns whose bounds Hudi's procedure shows as they are; it shows the bytes of decimals.
BOUNDED = ("ts", "name", "n", "d")

#: Hudi 1.2.0 gives a null value an entry in a secondary index of table version 8 too, 1.0.2 and the reference give it none. No
#: query looks up a null, so the entry is not needed.
_NULL_KEYS = "\0$"


class Round:
    """One table and the engine that shares it, compared with the first `filters`; `found` are the comparisons that failed."""

    def __init__(self, ask: Callable[..., Any], kind: Kind, folder: Path, filters: int | None = None) -> None:
        self.ask, self.kind, self.path = ask, kind, folder / kind.name
        self.filters = [(sql, where) for sql, where in FILTERS if sql not in kind.unasked][:filters]
        self.found: list[str] = []
        self.compared = 0

    def run_all_steps(self) -> None:
        """All steps."""
        if self.kind.statements:
            self.create_by_sql()
        else:
            self.write_with_hudi(self.kind.made)
        self.compare("as made")
        for act in self._writes():
            act(self.table)
        self.compare("after four writes of the reference")
        for serve in self._services():
            serve(self.table)
        self.compare("after services of the reference")
        self.write_with_hudi(self.kind.written_on)
        self.compare("after Hudi wrote on")
        self._writes()[1](self.table)
        self.compare("after both wrote")

    @property
    def table(self) -> WritableTable:
        """The table as the reference opens it, with the settings that all its writers have."""
        return open_table(self.path.as_uri(), options=self.kind.settings)

    def create_by_sql(self) -> None:
        """Create the table and write it with SQL statements."""
        kind = self.kind
        self.ask("run_sql", path=str(self.path), type=kind.type, partition=kind.partition, settings=kind.settings,
                 columns=", ".join(kind.columns), views={"ten": self._rows(TEN), "changed": self._rows(CHANGED)},
                 statements=kind.statements)  # fmt: skip

    def _rows(self, rows: Sequence[Row]) -> list[str]:
        """Rows with the columns of the table, as SQL."""
        return [f"({', '.join(row[: len(self.kind.columns)])})" for row in rows]

    def write_with_hudi(self, writes: Sequence[Write]) -> None:
        """Writes of Apache Hudi."""
        columns, options = ", ".join(self.kind.columns), self.kind.options()
        for one in writes:
            self.ask("write", path=str(self.path), rows=self._rows(one.rows), columns=columns, options=options,
                     operation=one.operation, mode=one.mode)  # fmt: skip

    def _writes(self) -> Sequence[Callable[[WritableTable], object]]:
        return _WRITES if self.kind.key else [_inserted] * 4

    def _services(self) -> list[Callable[[WritableTable], object]]:
        found: list[Callable[[WritableTable], object]] = [lambda table: clean(table, {"hoodie.clean.commits.retained": "1"})]
        if self.kind.clustered:
            found.insert(0, lambda table: cluster(table, {"hoodie.clustering.plan.strategy.sort.columns": "n"}))
        if self.kind.type == "MERGE_ON_READ":
            found.insert(0, lambda table: compact(table, {"hoodie.compact.inline.max.delta.commits": "1"}))
        return found

    def compare(self, when: str) -> None:
        """Compare the rows, filtered by each filter, and the metadata table with the data, also by Hudi's own procedures."""
        rows = self.ask("read", path=str(self.path), filters=[sql for sql, _ in self.filters])
        table = self.table
        for (sql, where), (skipped, listed) in zip(self.filters, rows, strict=True):
            self._expect(f"{when}: Hudi, {sql or 'all rows'}, with and without data skipping", skipped, listed)
            if where or not sql:
                self._expect(f"{when}: reference and Hudi, {sql or 'all rows'}", _texts(table, where), _sorted(listed))
        partitions = table.properties.fields("hoodie.table.metadata.partitions")
        for expected in ("files", "column_stats", *(["partition_stats"] if self.kind.partition else [])):
            if expected not in partitions:
                self.found.append(f"{when}: no {expected}")
        for partition in partitions:
            self._check_entries(when, table, partition)
        self._check_by_procedures(when)

    def _check_by_procedures(self, when: str) -> None:
        """What Hudi's procedures find in the metadata table is what storage and, read by Arrow alone, the base files have."""
        found = self.ask("validate", path=str(self.path), columns=BOUNDED)
        stored = files_by_partition(self.path)
        self._expect(f"{when}: Hudi's validator of the listing", found["wrong"], [])
        self._expect(f"{when}: partitions by Hudi's procedure", found["partitions"], sorted(stored))
        for partition, files in stored.items():
            self._expect(f"{when}: files of {partition!r} by Hudi's procedure", found["files"].get(partition, []), files)
        bounds = {
            (path, column): tuple(one)
            for path, columns in found["bounds"].items() if path.endswith(".parquet") for column, one in columns.items()
        }  # fmt: skip
        values = {(path, column): values_of(self.path / path, column) for path, column in bounds}
        without = {place for place, (least, _, _) in values.items() if least is None}  # the bounds of nulls alone vary
        kept = {place: (None, None, one[2]) if place in without else one for place, one in bounds.items()}
        self._expect(f"{when}: bounds by Hudi's procedure", sorted(kept.items(), key=str), sorted(values.items(), key=str))

    def _check_entries(self, when: str, table: Table, partition: str) -> None:
        """The entries of one index are those that a new index would have."""
        metadata = MetadataTable.for_table(table)
        assert metadata is not None
        stored = metadata.records(partition, table.timeline)
        expected = {record.key for record in index_of(table, partition).whole(table, table.view())}
        left = [key for key in stored if not (table.properties.version == 8 and key.startswith(_NULL_KEYS))]
        self._expect(f"{when}: keys of {partition}", sorted(left), sorted(expected))

    def _expect(self, what: str, found: Sequence[Any], expected: Sequence[Any]) -> None:
        self.compared += 1
        if list(found) != list(expected):
            missing = [one for one in expected if one not in found]
            more = [one for one in found if one not in expected]
            self.found.append(f"{what}: {len(found)} and {len(expected)}; missing {missing[:3]}, more {more[:3]}")


def files_by_partition(path: Path) -> dict[str, list[str]]:
    """The names of the data files in the folders of the partitions, without checksums of the local file system."""
    folders = [one.parent for one in path.rglob(".hoodie_partition_metadata") if ".hoodie" not in one.parts]
    names = {folder: [one.name for one in folder.iterdir() if one.is_file()] for folder in folders}
    return {
        ("" if folder == path else folder.relative_to(path).as_posix()):
        sorted(name for name in found if not name.endswith(".crc") and name != ".hoodie_partition_metadata")
        for folder, found in names.items()
    }  # fmt: skip


def values_of(path: Path, column: str) -> tuple[str | None, str | None, int]:
    """The least and the greatest value of a column of a base file as texts, None without values, and the number of nulls."""
    values = pq.read_table(path, columns=[column], partitioning=None).column(column)
    least, greatest = (None if found is None else str(found) for found in pc.min_max(values).as_py().values())
    return least, greatest, values.null_count


def _texts(table: Table, where: Sequence[tuple[str, str, Any]]) -> list[str]:
    return _sorted(
        [json.dumps(row, default=str) for row in _data(table.snapshot(where=where)).to_pylist(maps_as_pydicts="strict")]
    )


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


def _data(rows: pa.Table) -> pa.Table:
    return rows.drop_columns([name for name in rows.column_names if name in META_COLUMNS])


def _changed(table: WritableTable, keys: Sequence[str], n: int) -> pa.Table:
    """The rows of these keys with other numbers."""
    rows = table.snapshot()
    rows = _data(rows.filter(pc.is_in(rows.column("id"), pa.array(keys))))
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
