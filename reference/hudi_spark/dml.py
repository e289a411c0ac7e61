"""Changes of rows by conditions: `merge_into`, `update` and `delete_where`, each one action.

Each reads the table, computes the changed rows, and writes them if the table is still as it was read. Otherwise it raises
ConcurrentChange and changes nothing.

Changed rows are records of the table: they keep the key and the partition path that they have there, whatever a key generator
would make of their columns. New partition columns move a record only through a global index that moves records.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812 - its name in every Spark program
from pyspark.sql import Column, DataFrame, SparkSession

from hudi_reference.errors import InvalidRows, Misuse
from hudi_reference.records.changes import KEY
from hudi_reference.records.keys.record_keys import KeyGenerator, with_settings
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.schema.evolution import conform
from hudi_reference.write.placement.global_index import moves_records
from hudi_reference.write.placement.rows import PARTITION
from hudi_spark.errors import errors_of_executors
from hudi_spark.read import Options, ReadPlan, frame_of_plan, make_plan, open_with
from hudi_spark.source.releases import with_text
from hudi_spark.write import change_unchanged

#: New values of columns: expressions, as text or columns. In `merge_into` they name columns as `s.fare` and `t.fare`.
Values = Mapping[str, Column | str]
#: The meta columns that say which record a row is.
_IDENTITY = (KEY, PARTITION)
#: The partition path of a row, for the comparison of rows.
_PATH = "__path"
_Matched = Literal["update", "delete"]
_NotMatched = Literal["insert"]


def update(spark: SparkSession, uri: str, values: Values, where: Column | str, *, options: Options = None) -> str | None:
    """Set columns of the rows that satisfy the condition; the requested time, None if there is no such row.

    Raises Misuse for key columns, and for partition columns unless `options` name a global index that moves records;
    ConcurrentChange if the table changes meanwhile.
    """
    target = _Target(spark, uri, options)
    target.check_values(values)
    changed = {name: _expression(value).cast(target.frame.schema[name].dataType) for name, value in values.items()}
    return target.write(target.frame.where(_expression(where)).withColumns(changed), "UPSERT")


def delete_where(spark: SparkSession, uri: str, where: Column | str, *, options: Options = None) -> str | None:
    """Remove the rows that satisfy the condition; the requested time, None if there is no such row.

    Raises ConcurrentChange if the table changes meanwhile.
    """
    target = _Target(spark, uri, options)
    return target.write(target.frame.where(_expression(where)).select(*_IDENTITY, *target.identity), "DELETE")


def merge_into(
    df: DataFrame,
    uri: str,
    *,
    on: Sequence[str] | None = None,
    when_matched: _Matched | Values | None = "update",
    when_not_matched: _NotMatched | Values | None = "insert",
    options: Options = None,
) -> str | None:
    """MERGE INTO the table USING `df`; the requested time, None if no row changes.

    Args:
        df: the source, `s` in expressions; the table is `t`.
        uri: the table.
        on: columns that are equal in matching rows, and not null. None for the key columns, where null equals null, and the
            partition path: times of one month are one partition where paths have months.
        when_matched: `update` sets all columns that the source has, without keys, and without partition columns if `on` names
            columns; a mapping sets these columns; `delete` removes the rows; None leaves them.
        when_not_matched: `insert` adds rows of the source, absent columns null; a mapping gives the values; None adds none.
        options: settings of the writer by Hudi's names.

    Raises:
        InvalidRows: several rows of the source match one row of the table.
        Misuse: an unknown column or clause, a changed key or partition (see `update`), or `delete` together with inserts, which
            would be two actions.
        UnsupportedKeyGenerator: without `on`, the partition paths of the source need settings that `options` lack.
        ConcurrentChange: the table changes meanwhile.
    """
    _check_clause("when_matched", when_matched, get_args(_Matched))
    _check_clause("when_not_matched", when_not_matched, get_args(_NotMatched))
    target = _Target(df.sparkSession, uri, options)
    for name in target.identity if on is None else on:
        if name not in df.columns or name not in target.columns:
            raise Misuse("no such column in both source and table", rule="TYP-007", found=name)
    if on is not None and not on:
        raise Misuse("no column identifies matching rows", expected="at least one column in on", found="none")
    if when_matched == "delete" and when_not_matched is not None:
        raise Misuse("deletes and inserts are two actions", expected="when_not_matched=None", found="both",
                     remedy="delete first, then insert")  # fmt: skip
    source, stored, matching = target.sides(df, on)
    matched, parts = source.join(stored, matching, "inner"), []
    if when_matched is not None:
        target.check_unique(matched)
    if when_matched == "delete":
        return target.write(matched.select([F.col(f"t.{name}") for name in (*_IDENTITY, *target.identity)]), "DELETE")
    if when_matched is not None:
        if when_matched == "update":
            fixed = {*target.keys} if on is None or target.moves else {*target.identity}
            given: Values = {name: f"s.`{name}`" for name in df.columns if name not in {*fixed, *(on or ())}}
            target.check_known(given)
        else:
            target.check_values(given := when_matched)
        parts.append(matched.select(*(F.col(f"t.{name}") for name in _IDENTITY), *target.values(given, "t")))
    if when_not_matched is not None:
        new = source.join(stored, matching, "left_anti")
        given = {name: f"s.`{name}`" for name in df.columns} if when_not_matched == "insert" else when_not_matched
        target.check_known(given)
        unknown = [F.lit(None).cast("string").alias(name) for name in _IDENTITY]
        parts.append(new.select(*unknown, *target.values(given, None)))
    if not parts:
        return None
    rows = parts[0] if len(parts) == 1 else parts[0].unionByName(parts[1])
    return target.write(rows, "UPSERT", inserts=when_not_matched is not None)


def _check_clause(name: str, given: object, known: Sequence[str]) -> None:
    """Raises Misuse for a text that is no clause of a merge."""
    if isinstance(given, str) and given not in known:
        raise Misuse("unknown clause", expected=f"{' or '.join(known)}, a mapping, or None", found=f"{name}={given}")


class _Target:
    """The rows of a table as they are now, and the settings of the writer."""

    def __init__(self, spark: SparkSession, uri: str, options: Options) -> None:
        self.uri, self.options = uri, options
        self.table = open_with(uri, options)
        properties = self.table.properties
        if not properties.record_key:
            raise Misuse(
                "the table generates its keys", rule="PROP-007", remedy="upsert rows with their column _hoodie_record_key"
            )
        #: The columns of rows, and of these the key columns, and key and partition columns.
        self.columns = [name for name in make_plan(uri).fields.names if name not in META_COLUMNS]
        self.keys = _columns_of(properties.record_key)
        self.identity = _columns_of((*properties.record_key, *properties.partition_fields))
        self.plan: ReadPlan = make_plan(uri, columns=[*_IDENTITY, *self.columns])
        self.frame = frame_of_plan(spark, self.plan)
        #: Whether a record with another partition path moves to that partition.
        self.moves = moves_records(self.table)

    def sides(self, df: DataFrame, on: Sequence[str] | None) -> tuple[DataFrame, DataFrame, list[Column]]:
        """The source as `s`, the table as `t`, and what holds for matching rows."""
        if on is not None:
            equal = [F.col(f"s.{name}") == F.col(f"t.{name}") for name in on]
            return df.alias("s"), self.frame.alias("t"), equal
        of_source = self._with_paths(df)
        # Rows of a table without meta columns have no path.
        of_table = self._with_paths(self.frame).withColumn(_PATH, F.coalesce(PARTITION, _PATH))
        same = [F.col(f"s.{name}").eqNullSafe(F.col(f"t.{name}")) for name in (*self.keys, _PATH)]
        return of_source.alias("s"), of_table.alias("t"), same

    def _with_paths(self, rows: DataFrame) -> DataFrame:
        """The rows with the partition path that the table's key generator gives each."""
        if not self.table.properties.partition_fields:
            return rows.withColumn(_PATH, F.lit(""))
        names = _columns_of(self.table.properties.partition_fields)
        stored = pa.schema([self.plan.fields.field(name) for name in names])
        generator = KeyGenerator.from_properties(with_settings(self.table.properties, self.table.options))

        def paths(*columns: pa.Array) -> pa.Array:
            return generator.paths(conform(pa.table(list(columns), names=names), stored, "partition columns"))

        return with_text(rows, _PATH, paths, [F.col(name).cast(self.frame.schema[name].dataType) for name in names])

    def check_known(self, values: Values) -> None:
        """Raises Misuse for a column that the table lacks."""
        for name in values:
            if name not in self.columns:
                raise Misuse("no such column", rule="TYP-007", expected=", ".join(self.columns), found=name)

    def check_values(self, values: Values) -> None:
        """Raises Misuse for columns that an update cannot set."""
        self.check_known(values)
        for name in values:
            if name in (self.keys if self.moves else self.identity):
                raise Misuse(
                    "an update cannot change key columns, and partition columns only through a global index that moves records",
                    rule="MRG-001", found=name, remedy="delete the rows, then insert them",
                )  # fmt: skip

    def check_unique(self, matched: DataFrame) -> None:
        """Raises InvalidRows if several rows of the source match one row of the table."""
        keys = [F.col(f"t.{name}") for name in self.identity]
        with errors_of_executors():
            twice = matched.groupBy(*keys).count().where("count > 1").take(1)
        if twice:
            raise InvalidRows("several rows of the source match one row of the table", found=str(tuple(twice[0])[:-1]))

    def values(self, values: Values, default: str | None) -> list[Column]:
        """All columns of the table: the values, and for others those of `default` or null."""
        found = []
        for field in self.frame.select(self.columns).schema:
            if field.name in values:
                value = _expression(values[field.name])
            else:
                value = F.lit(None) if default is None else F.col(f"{default}.{field.name}")
            found.append(value.cast(field.dataType).alias(field.name))
        return found

    def write(self, rows: DataFrame, operation: str, *, inserts: bool = False) -> str | None:
        """One action, if there are rows, and the table is as it was read."""
        with errors_of_executors():
            if not rows.take(1):
                return None
        return change_unchanged(rows, self.uri, operation, self.options, self.plan.timeline, inserts=inserts)


def _columns_of(fields: Sequence[str]) -> list[str]:
    """The columns that hold these fields, each once."""
    return list(dict.fromkeys(name.partition(".")[0] for name in fields))


def _expression(value: Column | str) -> Column:
    return F.expr(value) if isinstance(value, str) else value
