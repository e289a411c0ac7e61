"""The adapter of Apache Hudi's Java write client: one class, the release is a parameter."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from hudi_conformance.contract import Hello, Query, Refused
from hudi_conformance.engines.apache_hudi import writing
from hudi_conformance.engines.apache_hudi.engine import FEATURES as ON_SPARK
from hudi_conformance.engines.apache_hudi.functions import inspection
from hudi_conformance.engines.apache_hudi.jvm import tables
from hudi_conformance.engines.apache_hudi.jvm.faults import translated
from hudi_conformance.engines.apache_hudi.write_client_engine import WriteClientEngine
from hudi_conformance.engines.apache_hudi_java import reading
from hudi_conformance.engines.apache_hudi_java.jvm import Machine
from hudi_conformance.engines.support.environments import Progress, to_stderr
from hudi_conformance.engines.support.features import FILES

#: Features of the adapter on Spark that this adapter does not offer. Functions and files use the same classes there.
_ONLY_ON_SPARK = frozenset(
    {
        *FILES,
        "read.incremental",
        "read.cdc",
        "read.filter",
        "read.filter.in",
        "read.filter.null",
        "read.filter.prefix",
        "read.filter.fields",
        "read.by-id",
        "read.compares-files",
        "write.partial-update",
        "write.bucket-index",
        "write.generated-keys",
        "write.notes",  # the caller of the client passes the metadata
        "write.global-index",  # neither the record index nor the global bloom index
        "service.index.named",  # it is a statement of SQL
        "write.delete-partition",  # the call exists, but neither release supports it
        "partition.dropped-columns",
        "schema.evolution",
        "meta-fields.absent",
        "service.log-compaction",  # it is planned, but this execution engine does not support it
    }
)
#: The client of 1.0.1 cannot insert in bulk on the classes of 1.0.2, nor cluster, which does; and the handle that reads merged
#: slices knows neither partial blocks nor slices without a base file.
_NOT_IN_RELEASE = {
    "1.0.2": frozenset({"write.bulk-insert", "service.clustering", "merge.partial-updates", "log.only-slices"}),
    "1.2.0": frozenset({"merge.partial-updates"}),
}
#: Its records are Avro's, so that it has blocks and types that Spark has not.
_MORE: Mapping[str, frozenset[str]] = {"1.0.2": frozenset(), "1.2.0": frozenset({"log.hfile", "types.avro"})}
FEATURES = {
    release: frozenset(f for f in ON_SPARK[release] - _ONLY_ON_SPARK - missing if not f.startswith("compute.")) | _MORE[release]
    for release, missing in _NOT_IN_RELEASE.items()
}


class ApacheHudiJavaEngine(WriteClientEngine):
    """The Java write client of one release, in the Java virtual machine of this process.

    A write never changes the version of a table.
    """

    def __init__(self, version: str, progress: Progress = to_stderr) -> None:
        self.version = version
        self.machine = Machine(version, progress)
        super().__init__(self.machine, FEATURES[version], in_contract_words)

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

    def write(self, table: str, operation: str, rows: pa.Table, *, options: Mapping[str, str] | None = None) -> str:
        """One commit."""
        table = self._writable("write", operation, table)
        with in_contract_words():
            return writing.write(self.machine, table, operation, rows, options or {})

    def inspect(self, uri: str, *, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
        """Timeline and file slices of a table, read by Hudi's classes."""
        if Path(tables.path_of(tables.local(uri))).is_file():
            raise Refused("inspect.log-file", "this adapter inspects tables only; apache-hudi inspects files")
        table = tables.admitted(self.machine, uri, self.version)
        with in_contract_words():
            return inspection.inspect_table(self.machine, table)

    def close(self) -> None:
        """Delete the temporary files."""
        self.machine.stop()


@contextmanager
def in_contract_words() -> Iterator[None]:
    """Turn Java exceptions into Conflict, Refused or EngineError."""
    import jpype

    try:
        yield
    except jpype.JException as e:
        raise translated(e, str(e.stacktrace())) from None
