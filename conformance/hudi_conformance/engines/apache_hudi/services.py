"""Table services and SQL statements, for the recipes of golden tables.

The table is registered in Spark's catalog first: procedures that get only a path leave the ordering field out in 1.0.2.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hudi_conformance.engines.apache_hudi import indexes
from hudi_conformance.engines.apache_hudi.jvm.listed_indexes import maintaining
from hudi_conformance.engines.apache_hudi.jvm.session import Session, of_spark
from hudi_conformance.engines.apache_hudi.jvm.tables import WRITE_OPTIONS, path_of, properties_of, version_option
from hudi_conformance.engines.apache_hudi.maintenance import run
from hudi_conformance.engines.apache_hudi.orders import SERVICE_OPTIONS, Order
from hudi_reference.layout.metadata_settings import ENABLE

Row = dict[str, Any]


def sql(session: Session, table: str, statement: str, options: Mapping[str, str]) -> list[Row]:
    """Run `statement`, in which `{table}` stands for the table's name in the catalog; the rows of its result.

    The metadata table and the indexes that the table lists are maintained, and no others, unless the options say otherwise.
    """
    name, properties = _registered(session, table), properties_of(session, table)
    indexed = {ENABLE: "false", **maintaining(session, table, properties)}
    with session.settings({**WRITE_OPTIONS, **version_option(properties), **SERVICE_OPTIONS, **indexed, **options}):
        return [row.asDict(recursive=True) for row in session.spark.sql(statement.format(table=name)).collect()]


def call(session: Session, table: str, procedure: str, arguments: Mapping[str, Any], options: Mapping[str, str]) -> list[Row]:
    """Run one of Hudi's SQL procedures on the table; the rows of its result."""
    given = "".join(f", {name} => {_literal(value)}" for name, value in arguments.items())
    return sql(session, table, f"CALL {procedure}(table => '{{table}}'{given})", options)


def is_named(options: Mapping[str, str]) -> bool:
    """Whether the options of an indexing describe an index that users name, or one to be dropped."""
    return bool({indexes.NAME, indexes.DROP} & options.keys())


def named_index(session: Session, table: str, options: Mapping[str, str]) -> str | None:
    """Build or drop the index that the options describe; the requested time of the new indexing, None if there is none."""
    order = Order(session, table, "run", None, options)
    before = order.instants().keys()
    sql(session, table, _statement(options), {**indexes.SETTINGS_OF_CLIENT, **of_spark(options)})
    return max((requested for requested, action in order.instants().keys() - before if action == "indexing"), default=None)


def _statement(options: Mapping[str, str]) -> str:
    """The statement for an index with these settings of Hudi."""
    if indexes.DROP in options:
        return f"DROP INDEX {options[indexes.DROP]} ON {{table}}"
    create = f"CREATE INDEX {options[indexes.NAME]} ON {{table}}"
    if (column := options.get("hoodie.metadata.index.secondary.column")) is not None:
        return f"{create} ({column})"
    listed = options.get("hoodie.metadata.index.expression.options", "")
    given = ", ".join(f"{name}={_literal(value)}" for name, _, value in (one.partition("=") for one in listed.split(",")))
    kind = options.get("hoodie.expression.index.type", "column_stats")
    column = options["hoodie.metadata.index.expression.column"]
    return f"{create} USING {kind}({column}) OPTIONS ({given})"


def log_compaction(session: Session, table: str, options: Mapping[str, str]) -> str | None:
    """Schedule a log compaction and run it, for which there is no procedure; its requested time, None if nothing was due."""
    return run(Order(session, table, "run", None, {"hoodie.log.compaction.enable": "true", **options}), "log-compaction")


def _registered(session: Session, table: str) -> str:
    """The table's name in the catalog; each URI has another name, because tables may have equal names."""
    name = "t_" + hashlib.sha256(table.encode()).hexdigest()[:16]
    file = Path(path_of(table)) / ".hoodie" / "hoodie.properties"
    original = file.read_bytes()
    session.spark.sql(f"DROP TABLE IF EXISTS {name}")
    session.spark.sql(f"CREATE TABLE {name} USING hudi LOCATION '{table}'")
    file.write_bytes(original)  # the statement rewrites it: all columns nullable, partition columns last, a database name
    return name


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "\\'") + "'"
