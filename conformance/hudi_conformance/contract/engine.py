"""The base class of an engine in Python; the client of every engine has the same methods."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from hudi_conformance.contract.digests import Digest
from hudi_conformance.contract.errors import Refused
from hudi_conformance.contract.messages import Hello, Operation, Phase, Point, Query, Service, TableSpec, Work, Write


class Engine:
    """One engine. Override the methods that it supports; the others raise `Refused`.

    Methods raise `Refused`, `Conflict` or `EngineError`; any other exception counts as an error of the engine.
    Tables are URIs (`file:///...`, `s3://bucket/key`).
    """

    def hello(self) -> Hello:
        """Identity, version and features."""
        raise NotImplementedError

    def read(self, table: str, query: Query) -> pa.Table:
        """The rows of `query`: its columns, or all data columns, in any row order."""
        raise Refused(f"read.{query.kind}", "this engine does not read")

    def digest(self, table: str, query: Query, group_by: str) -> list[Digest]:
        """The digests of the rows of `query` by the values of the column `group_by`; see `digests`."""
        raise Refused("read.digest", "this engine does not compute digests")

    def inspect(self, uri: str, *, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
        """Timeline and file slices of the table (a folder) at `uri`, or the contents of the file at `uri`, in the form of
        `schemas/table-inspection.json` or `schemas/file-inspection.json`.

        `keys` and `prefix` are looked up in a file: entries of an HFile, members of a base file's bloom filter.
        """
        raise Refused("inspect.table", "this engine does not inspect")

    def compute(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The JSON value of a pure function of the format, one of `FUNCTIONS`."""
        raise Refused(f"compute.{function}", "this engine does not compute it")

    def create(self, table: str, spec: TableSpec) -> None:
        """An empty table at `table`."""
        raise Refused("create", "this engine does not write")

    def write(self, table: str, operation: Operation, rows: pa.Table, *, options: Mapping[str, str] | None = None) -> str:
        """One commit; the requested time of its instant.

        For `delete`, `rows` hold at least key and partition columns, for `delete_partition` at least the partition columns.
        `options` are settings of the writer by Hudi's names.
        """
        raise Refused(f"write.{operation.replace('_', '-')}", "this engine does not write")

    def write_sql(self, table: str, operation: Operation, sql: str, *, options: Mapping[str, str] | None = None) -> str:
        """One commit with the rows of a query in Spark's SQL; the requested time of its instant."""
        raise Refused("write.sql", "this engine runs no SQL")

    def service(
        self,
        table: str,
        service: Service,
        *,
        phase: Phase = "run",
        instant: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> str | None:
        """One table service; the requested time of its action, None if there was nothing to do.

        `instant` is the instant to roll back, to protect or to restore to; with phase `execute` the requested time of the plan.
        `options` are settings by Hudi's names (`hoodie.clean.commits.retained`); `{"delete": "true"}` removes a savepoint.
        """
        raise Refused(f"service.{service}", "this engine does not run it")

    def begin(self, writer: str, work: Work, until: Point) -> str | None:
        """Start a write or service that pauses at `until`; the requested time of its action.

        `writer` is its name for `resume`. Paused work must not hold the lock of the table. A `begin` with the name of paused
        work abandons that work silently, as a crash of its process would.
        """
        raise Refused("pause.write" if isinstance(work, Write) else "pause.service", "this engine does not pause")

    def resume(self, writer: str, until: Point | None = None) -> str | None:
        """Resume the paused work of this name, up to `until` or to its end; the answer is that of the write or service."""
        raise Refused("pause.write", "this engine does not pause")

    def close(self) -> None:
        """Free what the engine holds; called once, after the last message."""
