"""The adapter of Apache Hudi's Java write client: one class, the release is a parameter."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from hudi_conformance.contract import Call, Engine, Hello, Query, Refused, TableSpec
from hudi_conformance.contract.messages import Phase, Point, Service, Work
from hudi_conformance.engines.apache_hudi import maintenance, writing
from hudi_conformance.engines.apache_hudi.engine import FEATURES as ON_SPARK
from hudi_conformance.engines.apache_hudi.functions import inspection
from hudi_conformance.engines.apache_hudi.jvm import tables
from hudi_conformance.engines.apache_hudi.jvm.faults import translated
from hudi_conformance.engines.apache_hudi.pausing import steps_of
from hudi_conformance.engines.apache_hudi_java import reading
from hudi_conformance.engines.apache_hudi_java.jvm import Machine
from hudi_conformance.engines.support.environments import Progress, to_stderr
from hudi_conformance.engines.support.pausing import PausedWork

#: Features of the adapter on Spark that this adapter does not offer. Functions and files use the same classes there.
_ONLY_ON_SPARK = frozenset(
    {
        "read.incremental",
        "read.cdc",
        "read.filter",
        "read.by-id",
        "write.partial-update",
        "write.bucket-index",
        "write.delete-partition",  # the call exists, but neither release supports it
        "inspect.log-file",
        "inspect.log-content",
        "inspect.hfile",
        "inspect.base-file",
        "inspect.bloom-filter",
        "inspect.instant",
        "inspect.history-file",
        "inspect.manifest",
        "inspect.metadata-table",
        "inspect.properties",
        "partition.dropped-columns",
        "schema.evolution",
        "service.log-compaction",  # it is planned, but this execution engine does not support it
    }
)
#: The client of 1.0.1 cannot insert in bulk on the classes of 1.0.2, nor cluster, which does; and the handle that reads merged
#: slices knows neither partial blocks nor slices without a base file.
_NOT_IN_RELEASE = {
    "1.0.2": frozenset({"write.bulk-insert", "service.clustering", "merge.partial-updates", "log.only-slices"}),
    "1.2.0": frozenset({"merge.partial-updates"}),
}
FEATURES = {
    release: frozenset(f for f in ON_SPARK[release] - _ONLY_ON_SPARK - missing if not f.startswith("compute."))
    for release, missing in _NOT_IN_RELEASE.items()
}


class ApacheHudiJavaEngine(Engine):
    """The Java write client of one release, in the Java virtual machine of this process; tables of version 8 are written."""

    def __init__(self, version: str, progress: Progress = to_stderr) -> None:
        self.version = version
        self.machine = Machine(version, progress)
        self._paused = PausedWork()

    def hello(self) -> Hello:
        """Identity and features of this release."""
        return Hello("apache-hudi-java", self.version, "java", FEATURES[self.version])

    def read(self, table: str, query: Query) -> pa.Table:
        """Rows through Hudi's readers of file slices."""
        for feature, asked in {f"read.{query.kind}": True, "read.filter": bool(query.where)}.items():
            if asked and feature not in FEATURES[self.version]:
                raise Refused(feature, "this client has no query engine")
        table = tables.admitted(self.machine, table, self.version)
        with in_contract_words():
            return reading.read(self.machine, table, query)

    def create(self, table: str, spec: TableSpec) -> None:
        """An empty table of version 8."""
        if len(spec.ordering) > 1 and "merge.multiple-ordering-fields" not in FEATURES[self.version]:
            raise Refused("merge.multiple-ordering-fields", f"{self.version} orders by one field")
        with in_contract_words():
            tables.create(self.machine, tables.local(table), spec)

    def write(self, table: str, operation: str, rows: pa.Table, *, options: Mapping[str, str] | None = None) -> str:
        """One commit."""
        table = self._for("write", operation, table)
        with in_contract_words():
            return writing.write(self.machine, table, operation, rows, options or {})

    def _for(self, kind: str, name: str, table: str) -> str:
        """The table's URI for Hudi. Raises Refused for what this release does not offer on it."""
        feature = f"{kind}.{name.replace('_', '-')}"
        if feature not in FEATURES[self.version]:
            raise Refused(feature, f"the client for {self.version} does not support it")
        return tables.admitted(self.machine, table, self.version, writing=True)

    def service(
        self,
        table: str,
        service: Service,
        *,
        phase: Phase = "run",
        instant: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> str | None:
        """One table service through the write client."""
        table = self._for("service", service, table)
        order = maintenance.Order(self.machine, table, phase, instant, options or {})
        with in_contract_words():
            return maintenance.run(order, service)

    def begin(self, writer: str, work: Work, until: Point) -> str | None:
        """Start a pausable write or service with its own client."""
        kind, name = ("service", work.service) if isinstance(work, Call) else ("write", work.operation)
        table = self._for(kind, name, work.table)
        with in_contract_words():
            return self._paused.begin(writer, steps_of(self.machine, table, work, until), until)

    def resume(self, writer: str, until: Point | None = None) -> str | None:
        """It goes on."""
        with in_contract_words():
            return self._paused.resume(writer, until)

    def inspect(self, uri: str, *, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
        """Timeline and file slices of a table, read by Hudi's classes."""
        if Path(tables.path_of(tables.local(uri))).is_file():
            raise Refused("inspect.log-file", "this adapter inspects tables only; apache-hudi inspects files")
        table = tables.admitted(self.machine, uri, self.version)
        with in_contract_words():
            return inspection.inspect_table(self.machine, table)

    def close(self) -> None:
        """Tidy up."""
        self.machine.stop()


@contextmanager
def in_contract_words() -> Iterator[None]:
    """Turn Java exceptions into Conflict, Refused or EngineError."""
    import jpype

    try:
        yield
    except jpype.JException as e:
        raise translated(e, str(e.stacktrace())) from None
