"""The adapter of Apache Hudi on Spark 3.5: one class, the release is a parameter."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from hudi_conformance.contract import Hello, Query, Refused
from hudi_conformance.contract.digests import Digest
from hudi_conformance.contract.messages import Phase, Service
from hudi_conformance.engines.apache_hudi import maintenance, queries, services, updates
from hudi_conformance.engines.apache_hudi.functions import functions, inspection
from hudi_conformance.engines.apache_hudi.functions.files import Files
from hudi_conformance.engines.apache_hudi.jvm import tables
from hudi_conformance.engines.apache_hudi.jvm.faults import in_contract_words
from hudi_conformance.engines.apache_hudi.jvm.session import Session
from hudi_conformance.engines.apache_hudi.write_client_engine import CREATES_9, WriteClientEngine
from hudi_conformance.engines.support.environments import Progress, to_stderr
from hudi_conformance.engines.support.features import FILES, QUERIES, TABLES, WRITES
from hudi_conformance.engines.support.large_tables import digests_of_frame
from hudi_reference.caching import cached_property

_FEATURES = frozenset(
    {
        *FILES,
        *QUERIES,
        *TABLES,
        *WRITES,
        "read.cdc",
        "read.by-id",
        "read.filter.fields",
        "read.digest",
        "write.sql",
        "write.generated-keys",
        "write.global-index",
        "write.notes",
        "write.metadata-table",
        "service.index.named",
        "inspect.metadata-table",
        "inspect.table",
        "pause.write",
        "pause.planned",
        "pause.service",
        *(f"service.{service}" for service in maintenance.SERVICES if service != "migrate"),
        "merge.custom",
        "partition.dropped-columns",
        "schema.evolution",
    }
)
_SINCE_1_1 = _FEATURES | {"merge.multiple-ordering-fields", "table-version.9", CREATES_9, "service.migrate"}
_BY_RELEASE = {
    "1.0.2": _FEATURES | {"pause.drawn"},
    "1.1.1": _SINCE_1_1,
    "1.2.0": _SINCE_1_1 | {"meta-fields.absent"},
}
FEATURES = {
    release: features | {f"compute.{function}" for function in functions.OFFERED[release]}
    for release, features in _BY_RELEASE.items()
}


class ApacheHudiEngine(WriteClientEngine):
    """Apache Hudi of one release, in a Spark session that this object owns. A write never changes the version of a table."""

    def __init__(self, version: str, progress: Progress = to_stderr) -> None:
        self.version = version
        self.session = Session(version, progress)
        super().__init__(self.session, FEATURES[version], in_contract_words)

    def hello(self) -> Hello:
        """Identity and features of this release."""
        stores = {"storage.s3"} if self.session.has_object_store else set()
        return Hello("apache-hudi", self.version, "java", FEATURES[self.version] | stores)

    def read(self, table: str, query: Query) -> pa.Table:
        """Rows through the Spark datasource."""
        table = tables.admitted(self.session, table, self.version)
        with in_contract_words():
            return self.session.collect(queries.frame(self.session, table, query))

    def digest(self, table: str, query: Query, group_by: str) -> list[Digest]:
        """The digests of the rows of a query, which Spark computes."""
        table = tables.admitted(self.session, table, self.version)
        with in_contract_words():
            return digests_of_frame(queries.frame(self.session, table, query), group_by)

    def write(self, table: str, operation: str, rows: pa.Table, *, options: Mapping[str, str] | None = None) -> str:
        """One commit; `options` are further options of the datasource, for recipes of golden tables."""
        table = tables.admitted(self.session, table, self.version, writing=True)
        with in_contract_words():
            write = updates.partial_update if operation == "partial_update" else partial(tables.write, operation=operation)
            return write(session=self.session, table=table, rows=rows, options=options or {})

    def service(
        self,
        table: str,
        service: Service,
        *,
        phase: Phase = "run",
        instant: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> str | None:
        """One table service; an index that users name is built or dropped by a SQL statement."""
        if service != "index" or not services.is_named(options or {}):
            return super().service(table, service, phase=phase, instant=instant, options=options)
        if phase != "run":
            raise Refused("service.index.named", "CREATE INDEX plans and builds at once")
        table = tables.admitted(self.session, table, self.version, writing=True)
        with in_contract_words():
            return services.named_index(self.session, table, options or {})

    def write_sql(self, table: str, operation: str, sql: str, *, options: Mapping[str, str] | None = None) -> str:
        """One commit of the rows of a query."""
        table = tables.admitted(self.session, table, self.version, writing=True)
        schema = tables.schema_of(tables.properties_of(self.session, table))
        with in_contract_words():
            frame = self.session.with_nulls_of(self.session.spark.sql(sql), schema)
            return tables.write_frame(self.session, table, operation, frame, options or {})

    def inspect(self, uri: str, *, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
        """Timeline and file slices of a table, or the contents of a file, read by Hudi's classes."""
        if uri.startswith("file:") and Path(tables.path_of(uri)).is_file():
            with in_contract_words():
                return self._files.inspect(uri, keys, prefix)
        table = tables.admitted(self.session, uri, self.version)
        with in_contract_words():
            return inspection.inspect_table(self.session, table)

    @cached_property
    def _files(self) -> Files:
        return Files(self.session)

    def compute(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The value of a pure function, computed by a class of Hudi."""
        with in_contract_words():
            return functions.compute(self.session, function, arguments)

    def sql(self, table: str, statement: str, options: Mapping[str, str] | None = None) -> list[services.Row]:
        """Run a SQL statement, in which `{table}` stands for the table; for recipes of golden tables."""
        table = tables.admitted(self.session, table, self.version, writing=True)
        with in_contract_words():
            return services.sql(self.session, table, statement, options or {})

    def call(
        self, table: str, procedure: str, options: Mapping[str, str] | None = None, **arguments: Any
    ) -> list[services.Row]:
        """Run a SQL procedure on the table, as in `call(t, "run_compaction", op="run")`; for recipes of golden tables.

        Procedures: run_compaction and run_clustering (op: schedule, execute, scheduleAndExecute), run_clean
        (clean_policy, retain_commits), create_savepoint (commit_time), rollback_to_instant and rollback_to_savepoint
        (instant_time).
        """
        table = tables.admitted(self.session, table, self.version, writing=True)
        with in_contract_words():
            return services.call(self.session, table, procedure, arguments, options or {})

    def log_compaction(self, table: str, options: Mapping[str, str] | None = None) -> str | None:
        """Schedule and run a log compaction; its requested time, None if nothing was due."""
        table = tables.admitted(self.session, table, self.version, writing=True)
        with in_contract_words():
            return services.log_compaction(self.session, table, options or {})

    def close(self) -> None:
        """Stop Spark."""
        self.session.stop()
