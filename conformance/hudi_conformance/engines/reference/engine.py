"""The adapter of the reference implementation."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

import pyarrow as pa

from hudi_conformance import __version__
from hudi_conformance.contract import Conflict, Engine, EngineError, Hello, Query, Refused, TableSpec
from hudi_conformance.contract.features import FUNCTIONS
from hudi_conformance.contract.messages import Operation, Phase, Point, Service, Work, Write
from hudi_conformance.engines.support.features import FILES, QUERIES, TABLES, WRITES
from hudi_conformance.engines.support.pausing import PausedWork
from hudi_reference.caching import cached_property
from hudi_reference.errors import HudiError, UnsupportedFeature, WriteConflict
from hudi_reference.schema.avro import META_COLUMNS

if TYPE_CHECKING:
    from hudi_conformance.engines.reference.pausing import PausableGreenlet
    from hudi_reference import WritableTable

#: Features of pausable writes and services.
PAUSES = frozenset({"pause.write", "pause.service"})
#: Features of the reference on tables.
OFFERED = frozenset(
    {
        *QUERIES,
        *TABLES,
        *WRITES,
        "read.cdc",
        "read.by-id",
        "read.filter.fields",
        "inspect.table",
        "write.generated-keys",
        "write.global-index",
        "write.metadata-table",
        "write.compares-keys",
        "write.notes",
        "base.orc",
        "base.hfile",
        "log.hfile",
        "meta-fields.absent",
        "merge.multiple-ordering-fields",
        "partition.dropped-columns",
        "schema.evolution",
        "create.table-version.9",
        "table-version.9",
        "types.avro",
        "storage.s3",
        "service.archive",
        "service.migrate",
        "service.clean",
        "service.compaction",
        "service.log-compaction",
        "service.clustering",
        "clustering.plan-strategies",
        "service.rollback",
        "service.savepoint",
        "service.restore",
        "service.index",
        "service.index.named",
        "archive.flink-settings",
        "merge.custom",
        "merge.samples",
        *PAUSES,
    }
)
#: Features of the reference on single files and functions.
BYTES = FILES | {"inspect.metadata-table"} | {f"compute.{function}" for function in FUNCTIONS}


class Reference(Engine):
    """Opens the table for each message, and keeps no state between messages except paused work."""

    def hello(self) -> Hello:
        """Identity and features. The version is that of the suite, because both are one distribution."""
        return Hello("reference", __version__, "python", OFFERED | BYTES)

    def read(self, table: str, query: Query) -> pa.Table:
        """The rows of a query."""
        with contract_errors():
            opened = replace(self._opened(table), schema_on_read=query.by_id)
            chosen: dict[str, Any] = {"columns": query.columns, "where": query.where}
            match query.kind:
                case "snapshot":
                    rows = opened.snapshot(**chosen)
                case "read-optimized":
                    rows = opened.read_optimized(**chosen)
                case "as-of":
                    rows = opened.as_of(query.as_of or "", **chosen)
                case "incremental":
                    rows = opened.incremental(query.begin, query.end, **chosen)
                case "cdc":
                    rows = opened.changes(query.begin, query.end, **chosen)
            return rows if query.columns is not None else _data_columns(rows)

    def inspect(self, uri: str, *, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
        """A table, or one file."""
        from hudi_conformance.engines.reference.files import inspect_file
        from hudi_reference.files.inspection.file_type import is_file

        with contract_errors():
            if is_file(uri):
                return inspect_file(uri, keys=keys, prefix=prefix)
        return self.inspect_table(uri)

    def inspect_table(self, uri: str) -> dict[str, Any]:
        """Properties, timeline and file groups of a table."""
        from hudi_reference.metadata.availability import inspect_metadata_table

        with contract_errors():
            opened = self._opened(uri)
            return {**opened.inspect(), "metadata_table": inspect_metadata_table(opened)}

    def compute(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """A pure function of the format."""
        from hudi_conformance.engines.reference.functions import compute

        with contract_errors():
            return compute(function, arguments)

    def create(self, table: str, spec: TableSpec) -> None:
        """An empty table."""
        from hudi_reference import create_table
        from hudi_reference.records.mergers.sample_mergers import SAMPLE_MERGERS

        with contract_errors(), catch_warnings(action="ignore", category=DeprecationWarning):
            create_table(
                table,
                name=spec.name,
                schema=dict(spec.schema),
                record_key=spec.record_key,
                partition=spec.partition,
                table_type=spec.type,
                version=spec.version,
                ordering=spec.ordering,
                merge_mode=spec.merge_mode,
                hive_style=spec.hive_style,
                url_encode=spec.url_encode,
                properties=dict(spec.properties),
                mergers=SAMPLE_MERGERS,
            )

    def write(self, table: str, operation: Operation, rows: pa.Table, *, options: Mapping[str, str] | None = None) -> str:
        """One commit of rows or keys."""
        with contract_errors():
            return _write(self._opened(table, options), operation, rows)

    def service(
        self,
        table: str,
        service: Service,
        *,
        phase: Phase = "run",
        instant: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> str | None:
        """One table service."""
        from hudi_conformance.engines.reference.services import Order, run

        with contract_errors():
            return run(self._opened(table, _lock_settings(options)), service, Order(phase, instant, options or {}))

    def begin(self, writer: str, work: Work, until: Point) -> str | None:
        """Start a pausable write or service."""
        if until in ("drawn", "planned"):
            raise Refused(f"pause.{until}", "begin times and plans are published under the lock under which they are made")
        with contract_errors():
            return self._paused.begin(writer, self._pausable(work), until)

    def resume(self, writer: str, until: Point | None = None) -> str | None:
        """Resume paused work."""
        with contract_errors():
            return self._paused.resume(writer, until)

    @cached_property
    def _paused(self) -> PausedWork:
        return PausedWork()

    def _pausable(self, work: Work) -> "PausableGreenlet":
        from hudi_conformance.engines.reference.pausing import PausableGreenlet
        from hudi_conformance.engines.reference.services import Order, run

        if isinstance(work, Write):
            opened = self._opened(work.table, work.options)
            return PausableGreenlet(opened, lambda table: _write(table, work.operation, work.rows))
        order = Order(work.phase, work.instant, work.options)
        opened = self._opened(work.table, _lock_settings(work.options))
        return PausableGreenlet(opened, lambda table: run(table, work.service, order), instant=work.instant)

    def _opened(self, table: str, options: Mapping[str, str] | None = None) -> "WritableTable":
        from hudi_reference import open_table
        from hudi_reference.records.mergers.sample_mergers import SAMPLE_MERGERS

        return open_table(table, options=options, mergers=SAMPLE_MERGERS)


def _lock_settings(options: Mapping[str, str] | None) -> dict[str, str]:
    """The settings of a service that choose the lock of the table; the others are settings of its plan."""
    return {name: value for name, value in (options or {}).items() if name.startswith("hoodie.write.lock.")}


def _write(table: "WritableTable", operation: Operation, rows: pa.Table) -> str:
    from hudi_reference.write.insert_overwrite import partitions_of

    if operation == "delete_partition":
        return table.delete_partitions(partitions_of(table, rows))
    instant: str = getattr(table, operation)(rows)
    return instant


def _data_columns(rows: pa.Table) -> pa.Table:
    """Rows without meta columns, which are returned only if the query names them."""
    return rows.drop_columns([name for name in rows.column_names if name in META_COLUMNS])


@contextmanager
def contract_errors() -> Iterator[None]:
    """Translate the errors of the reference into those of the contract."""
    try:
        yield
    except UnsupportedFeature as e:
        raise Refused(e.feature, str(e)) from e
    except WriteConflict as e:
        raise Conflict(str(e)) from e
    except HudiError as e:
        raise EngineError(str(e)) from e


if __name__ == "__main__":
    from hudi_conformance.contract.serve import serve

    serve(Reference)
