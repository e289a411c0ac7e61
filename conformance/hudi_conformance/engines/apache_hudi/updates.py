"""Partial updates of Apache Hudi: `MERGE INTO` that assigns some columns of matching records."""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from hudi_conformance.contract import EngineError
from hudi_conformance.engines.apache_hudi.jvm.listed_indexes import maintaining
from hudi_conformance.engines.apache_hudi.jvm.session import Session
from hudi_conformance.engines.apache_hudi.jvm.tables import completed, path_of, properties_of, write_options

#: The table and its changes in the catalog, while the statement runs.
TARGET, SOURCE = "hudi_conformance_target", "hudi_conformance_changes"


def partial_update(session: Session, table: str, rows: pa.Table, options: Mapping[str, str]) -> str:
    """One commit that assigns the given columns except key and partition columns; the requested time of its instant."""
    properties = properties_of(session, table)
    frame = session.data_frame(rows, json.loads(properties.get("hoodie.table.create.schema", "{}")))
    before = completed(session, table)
    settings = {**write_options(properties, "upsert"), **maintaining(session, table, properties), **options}
    settings.pop("hoodie.datasource.write.operation")
    frame.createOrReplaceTempView(SOURCE)
    _sql(session, f"DROP TABLE IF EXISTS {TARGET}", settings)
    _sql(session, f"CREATE TABLE {TARGET} USING hudi LOCATION '{path_of(table)}'", settings)
    try:
        _sql(session, _statement(properties, rows.column_names), settings)
    finally:
        _sql(session, f"DROP TABLE {TARGET}", settings)
    new = {time: ended for time, ended in completed(session, table).items() if time not in before}
    if not new:
        raise EngineError("Hudi reported no error, but the MERGE INTO completed no instant")
    return max(new, key=lambda time: new[time])


def _statement(properties: Mapping[str, str], columns: list[str]) -> str:
    fixed = [*_fields(properties, "recordkey"), *_fields(properties, "partition")]
    matches = " AND ".join(f"t.`{name}` = s.`{name}`" for name in fixed)
    assigned = ", ".join(f"`{name}` = s.`{name}`" for name in columns if name not in fixed)
    return f"MERGE INTO {TARGET} t USING {SOURCE} s ON {matches} WHEN MATCHED THEN UPDATE SET {assigned}"


def _fields(properties: Mapping[str, str], which: str) -> list[str]:
    listed = properties.get(f"hoodie.table.{which}.fields", "")
    return [name.partition(":")[0] for name in listed.split(",") if name]


def _sql(session: Session, statement: str, settings: Mapping[str, Any]) -> None:
    """Run a statement under temporary settings."""
    for name, value in settings.items():
        session.spark.conf.set(name, value)
    try:
        session.spark.sql(statement).collect()
    finally:
        for name in settings:
            session.spark.conf.unset(name)
