"""Changes of rows by conditions: `merge_into`, `update` and `delete_where`, each one action.

Each reads the table, computes the changed rows, and writes them if the table is still as it was read. Otherwise it raises
ConcurrentChange and changes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import pyspark.sql.functions as F  # noqa: N812 - its name in every Spark program
from pyspark.sql import Column, DataFrame, SparkSession

from hudi_reference.errors import InvalidRows, Misuse
from hudi_reference.layout.properties import TableProperties
from hudi_reference.schema.avro import META_COLUMNS
from hudi_spark.errors import errors_of_executors
from hudi_spark.read import Options, ReadPlan, frame_of_plan, make_plan, open_shared
from hudi_spark.write import change_unchanged

#: New values of columns: expressions, as text or columns. In `merge_into` they name columns as `s.fare` and `t.fare`.
Values = Mapping[str, Column | str]
_Matched = Literal["update", "delete"]
_NotMatched = Literal["insert"]


def update(spark: SparkSession, uri: str, values: Values, where: Column | str, *, options: Options = None) -> str | None:
    """Set columns of the rows that satisfy the condition; the requested time, None if there is no such row.

    Raises Misuse for key and partition columns, ConcurrentChange if the table changes meanwhile.
    """
    target = _Target(spark, uri)
    target.check_values(values)
    changed = {name: _expression(value).cast(target.frame.schema[name].dataType) for name, value in values.items()}
    return target.write(target.frame.where(_expression(where)).withColumns(changed), "UPSERT", options)


def delete_where(spark: SparkSession, uri: str, where: Column | str, *, options: Options = None) -> str | None:
    """Remove the rows that satisfy the condition; the requested time, None if there is no such row.

    Raises ConcurrentChange if the table changes meanwhile.
    """
    target = _Target(spark, uri)
    return target.write(target.frame.where(_expression(where)).select(target.identity), "DELETE", options)


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
        on: columns that are equal in matching rows, and not null. None for the key and partition columns, where null equals
            null, because both are one key or one partition.
        when_matched: `update` sets all columns that the source has, a mapping sets these columns, `delete` removes the rows,
            None leaves them.
        when_not_matched: `insert` adds rows of the source, absent columns null; a mapping gives the values; None adds none.
        options: settings of the writer by Hudi's names.

    Raises:
        InvalidRows: several rows of the source match one row of the table.
        Misuse: an unknown column or clause, a changed key, or `delete` together with inserts, which would be two actions.
        ConcurrentChange: the table changes meanwhile.
    """
    _check_clause("when_matched", when_matched, get_args(_Matched))
    _check_clause("when_not_matched", when_not_matched, get_args(_NotMatched))
    target = _Target(df.sparkSession, uri)
    fields = list(target.identity if on is None else on)
    if not fields:
        raise Misuse("no column identifies matching rows", expected="at least one column in on", found="none")
    for name in fields:
        if name not in df.columns or name not in target.frame.columns:
            raise Misuse("no such column in both source and table", rule="TYP-007", found=name)
    if when_matched == "delete" and when_not_matched is not None:
        raise Misuse("deletes and inserts are two actions", expected="when_not_matched=None", found="both",
                     remedy="delete first, then insert")  # fmt: skip
    source, stored = df.alias("s"), target.frame.alias("t")
    equal = Column.eqNullSafe if on is None else Column.__eq__
    matching = [equal(F.col(f"s.{name}"), F.col(f"t.{name}")) for name in fields]
    matched, parts = source.join(stored, matching, "inner"), []
    if when_matched is not None:
        target.check_unique(matched)
    if when_matched == "delete":
        keys = [F.col(f"t.{name}").alias(name) for name in target.identity]
        return target.write(matched.select(keys), "DELETE", options)
    if when_matched is not None:
        fixed = {*target.identity, *fields}
        given = {name: f"s.{name}" for name in df.columns if name not in fixed} if when_matched == "update" else when_matched
        target.check_values(given)
        parts.append(matched.select(target.columns(given, "t")))
    if when_not_matched is not None:
        new = source.join(stored, matching, "left_anti")
        given = {name: f"s.{name}" for name in df.columns} if when_not_matched == "insert" else when_not_matched
        target.check_known(given)
        parts.append(new.select(target.columns(given, None)))
    if not parts:
        return None
    return target.write(parts[0] if len(parts) == 1 else parts[0].unionByName(parts[1]), "UPSERT", options)


def _check_clause(name: str, given: object, known: Sequence[str]) -> None:
    """Raises Misuse for a text that is no clause of a merge."""
    if isinstance(given, str) and given not in known:
        raise Misuse("unknown clause", expected=f"{' or '.join(known)}, a mapping, or None", found=f"{name}={given}")


class _Target:
    """The rows of a table as they are now."""

    def __init__(self, spark: SparkSession, uri: str) -> None:
        self.uri = uri
        self.properties: TableProperties = open_shared(uri).properties
        names = [name for name in make_plan(uri).fields.names if name not in META_COLUMNS]
        self.plan: ReadPlan = make_plan(uri, columns=names)
        self.frame = frame_of_plan(spark, self.plan)
        keys = [*self.properties.record_key, *self.properties.partition_fields]
        self.identity = list(dict.fromkeys(name.partition(".")[0] for name in keys))
        if not self.properties.record_key:
            raise Misuse(
                "the table generates its keys", rule="PROP-007", remedy="upsert rows with their column _hoodie_record_key"
            )

    def check_known(self, values: Values) -> None:
        """Raises Misuse for a column that the table lacks."""
        for name in values:
            if name not in self.frame.columns:
                raise Misuse("no such column", rule="TYP-007", expected=", ".join(self.frame.columns), found=name)

    def check_values(self, values: Values) -> None:
        """Raises Misuse for columns that an update cannot set."""
        self.check_known(values)
        for name in values:
            if name in self.identity:
                raise Misuse(
                    "an update cannot change key and partition columns", rule="MRG-001", found=name,
                    remedy="delete the rows, then insert them",
                )  # fmt: skip

    def check_unique(self, matched: DataFrame) -> None:
        """Raises InvalidRows if several rows of the source match one row of the table."""
        keys = [F.col(f"t.{name}") for name in self.identity]
        with errors_of_executors():
            twice = matched.groupBy(*keys).count().where("count > 1").take(1)
        if twice:
            raise InvalidRows("several rows of the source match one row of the table", found=str(tuple(twice[0])[:-1]))

    def columns(self, values: Values, default: str | None) -> list[Column]:
        """All columns of the table: the values, and for others those of `default` or null."""
        found = []
        for field in self.frame.schema:
            if field.name in values:
                value = _expression(values[field.name])
            else:
                value = F.lit(None) if default is None else F.col(f"{default}.{field.name}")
            found.append(value.cast(field.dataType).alias(field.name))
        return found

    def write(self, rows: DataFrame, operation: str, options: Options) -> str | None:
        """One action, if there are rows, and the table is as it was read."""
        with errors_of_executors():
            if not rows.take(1):
                return None
        return change_unchanged(rows, self.uri, operation, options, self.plan.timeline)


def _expression(value: Column | str) -> Column:
    return F.expr(value) if isinstance(value, str) else value
