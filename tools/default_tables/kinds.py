"""The kinds of tables: what Apache Hudi writes into each of them, with the settings that a user of that feature sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

COLUMNS = (
    "id string", "ts bigint", "p string", "name string", "n int", "d double", "day date", "big decimal(10,2)",
    "s struct<a:int>",
)  # fmt: skip
NESTED = (*COLUMNS, "tags array<string>", "attrs map<string,int>")
COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"


#: SQL expressions of the values of a row.
Row = tuple[str, ...]


@dataclass(frozen=True)
class Write:
    """One write of the data source: Hudi's name of the operation, and rows as SQL expressions of the values."""

    operation: str
    rows: Sequence[Row]
    mode: str = "append"


def make_row(key: str, n: int, p: str, *, null: bool = False) -> Row:
    """A row of `COLUMNS`; every column except the key and the partition has the number `n`."""
    start = (f"'{key}'", str(n), f"'{p}'")
    if null:
        return (*start, "null", "null", "null", "date'2020-01-01'", "null", "null")
    day = f"date_add(date'1970-01-01', {n})"
    return (*start, f"'w-{n}'", str(n), str(-n * 1.5), day, f"{n * 1.01:.2f}", f"named_struct('a', {n})")


TEN = [make_row(f"k{n}", n, "xy"[n % 2]) for n in range(1, 11)]
CHANGED = [make_row("k1", 21, "y"), make_row("k2", 22, "x"), make_row("new", 60, "x"), make_row("none", 61, "z", null=True)]
FIRST = Write("insert", TEN, "overwrite")
MADE: Sequence[Write] = (
    FIRST,
    Write("upsert", CHANGED),
    Write("delete", [make_row("k5", 99, "y")]),
    Write("upsert", [make_row("k9", 70, "y")]),
)
#: The rounds in which Apache Hudi writes on after the reference.
WRITTEN_ON: Sequence[Write] = (
    Write("upsert", [make_row("k3", 90, "y"), make_row("later", 91, "z")]),
    Write("delete", [make_row("k4", 99, "x")]),
)
SQL_ROWS: Sequence[str] = (
    "INSERT INTO {table} SELECT {columns} FROM ten",
    "UPDATE {table} SET n = 21, ts = 21, name = 'w-21' WHERE id = 'k1'",
    "DELETE FROM {table} WHERE id = 'k5'",
    "MERGE INTO {table} t USING changed s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
)
PARTIAL_MERGE = (
    "MERGE INTO {table} t USING (SELECT 'k1' AS id, 31L AS ts, 'partial' AS name UNION ALL SELECT 'k2', 32L, 'partial') s "
    "ON t.id = s.id WHEN MATCHED THEN UPDATE SET ts = s.ts, name = s.name"
)


@dataclass(frozen=True)
class Kind:
    """A kind of table: its name, and the settings of its writers that differ from the defaults.

    A kind with `statements` is created and written by SQL, the others by the data source of DataFrames. `unasked` are filters
    that Apache Hudi answers wrongly, or whose columns the table has not.
    """

    name: str
    type: str
    partition: str = "p"
    settings: Mapping[str, str] = field(default_factory=dict)
    made: Sequence[Write] = MADE
    written_on: Sequence[Write] = WRITTEN_ON
    statements: Sequence[str] = ()
    columns: Sequence[str] = COLUMNS
    key: str = "id"
    clustered: bool = True
    unasked: Sequence[str] = ()

    def options(self) -> dict[str, str]:
        """The options of the data source."""
        found = {
            "hoodie.table.name": self.name.replace("-", "_"),
            "hoodie.datasource.write.table.type": self.type,
            "hoodie.datasource.write.recordkey.field": self.key,
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.partitionpath.field": self.partition,
            **self.settings,
        }
        return {name: value for name, value in found.items() if value or name.endswith("partitionpath.field")}


INLINE_COMPACTION = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "2"}
INLINE_CLUSTERING = {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "2"}
SHORT_HISTORY = {"hoodie.clean.commits.retained": "1", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
RECORD_INDEX = {"hoodie.metadata.record.index.enable": "true", "hoodie.index.type": "RECORD_INDEX"}
CDC = {"hoodie.table.cdc.enabled": "true"}
BY_MONTH = {
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
    "hoodie.keygen.timebased.timestamp.type": "SCALAR",
    "hoodie.keygen.timebased.timestamp.scalar.time.unit": "DAYS",
    "hoodie.keygen.timebased.output.dateformat": "yyyy-MM",
}
#: Several writes, so that the cleaner and the archival have work.
MANY = (*MADE, *(Write("upsert", [make_row("k8", 71 + n, "x")]) for n in range(4)))
OVERWRITTEN = (
    *MADE,
    Write("insert_overwrite", [make_row("k2", 80, "x"), make_row("over", 81, "x")]),
    Write("upsert", [make_row("over", 82, "x")]),
)
PARTITION_DELETED = (*MADE, Write("delete_partition", [make_row("any", 80, "y")]), Write("upsert", [make_row("k1", 83, "y")]))
#: Without a record key there is nothing to update or to delete by.
KEYLESS = (FIRST, *(Write("insert", [make_row(f"a{n}", 20 + n, "xyz"[n % 3])]) for n in range(3)))
KEYLESS_ON = (Write("insert", [make_row("later", 91, "z")]), Write("insert", [make_row("last", 92, "x")]))
LOCK = "hoodie.write.lock.provider"
#: Hudi 1.2.0 creates an index only with a lock provider.
INDEX_OF_NAMES: Sequence[str] = (
    f"SET {LOCK}=org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "CREATE INDEX by_name ON {table} (name)",
    f"RESET {LOCK}",
)
NESTED_ROWS = tuple(replace(one, rows=[(*given, "array('a', 'b')", "map('m', 1)") for given in one.rows]) for one in MADE)
NESTED_ON = tuple(replace(one, rows=[(*given, "array('c')", "map('o', 2)") for given in one.rows]) for one in WRITTEN_ON)
#: Hudi reads the ordering column as the text of the partition path if it is the partition column too.
UNORDERED = {"hoodie.datasource.write.precombine.field": ""}
#: Hudi 1.0.2 fails to index the keys of its own log files if their rows have a struct or, for a secondary index, a decimal.
WITHOUT_STRUCT: Mapping[str, Any] = {"columns": COLUMNS[:-1], "unasked": ("s.a = 3",)}
WITHOUT_DECIMAL: Mapping[str, Any] = {"columns": COLUMNS[:-2], "unasked": ("s.a = 3", "big > 60.5")}

KINDS = (
    Kind("copy-on-write", COW),
    Kind("merge-on-read", MOR),
    Kind("copy-on-write-one-partition", COW, ""),
    Kind("merge-on-read-one-partition", MOR, ""),
    Kind("copy-on-write-sql", COW, statements=SQL_ROWS),
    Kind("merge-on-read-sql", MOR, statements=SQL_ROWS),
    Kind("copy-on-write-nested", COW, made=NESTED_ROWS, written_on=NESTED_ON, columns=NESTED),
    Kind("merge-on-read-nested", MOR, made=NESTED_ROWS, written_on=NESTED_ON, columns=NESTED),
    # Hudi compares the constant with the text of the partition path and finds no row.
    Kind("copy-on-write-by-month", COW, "ts", BY_MONTH, unasked=("ts <= 4",)),
    Kind("merge-on-read-by-month", MOR, "ts", {**BY_MONTH, **UNORDERED}, unasked=("ts <= 4",)),
    Kind("copy-on-write-keyless", COW, made=KEYLESS, written_on=KEYLESS_ON, key=""),
    Kind("merge-on-read-keyless", MOR, made=KEYLESS, written_on=KEYLESS_ON, key=""),
    Kind("copy-on-write-record-index", COW, settings=RECORD_INDEX),
    Kind("merge-on-read-record-index", MOR, settings=RECORD_INDEX, **WITHOUT_STRUCT),
    Kind("copy-on-write-secondary-index", COW, settings=RECORD_INDEX, statements=(*SQL_ROWS, *INDEX_OF_NAMES)),
    Kind(
        "merge-on-read-secondary-index",
        MOR,
        settings=RECORD_INDEX,
        statements=(*SQL_ROWS, *INDEX_OF_NAMES),
        **WITHOUT_DECIMAL,
    ),
    Kind("copy-on-write-buckets", COW, settings=BUCKETS, clustered=False),
    Kind("merge-on-read-buckets", MOR, settings=BUCKETS, clustered=False),
    Kind("merge-on-read-compacted", MOR, settings=INLINE_COMPACTION),
    Kind("copy-on-write-clustered", COW, settings=INLINE_CLUSTERING),
    Kind("copy-on-write-archived", COW, settings=SHORT_HISTORY, made=MANY),
    Kind("merge-on-read-archived", MOR, settings={**SHORT_HISTORY, **INLINE_COMPACTION}, made=MANY),
    Kind("copy-on-write-overwritten", COW, made=OVERWRITTEN),
    Kind("merge-on-read-partition-deleted", MOR, made=PARTITION_DELETED),
    Kind("copy-on-write-change-log", COW, settings=CDC),
    Kind("merge-on-read-change-log", MOR, settings=CDC),
    Kind("merge-on-read-partial-merge", MOR, statements=(*SQL_ROWS, PARTIAL_MERGE)),
)
