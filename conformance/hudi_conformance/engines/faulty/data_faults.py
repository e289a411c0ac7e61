"""Engines in this process that give wrong answers: each is the reference with one fault."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance import __version__
from hudi_conformance.contract import FEATURES, EngineError, Hello, Query, Refused, TableSpec
from hudi_conformance.contract.messages import Operation
from hudi_conformance.engines.faulty.answer_faults import AnswerFault
from hudi_conformance.engines.faulty.table_faults import TableFault, changed_copy
from hudi_conformance.engines.reference.engine import BYTES, OFFERED, Reference
from hudi_reference import WritableTable
from hudi_reference.query.damage_checks import NO_CHECKS


class FaultyEngine(Reference):
    """The reference under the name of a fault, on local tables only. The subclasses have the faults."""

    def __init__(self, name: str) -> None:
        self.name = name

    def hello(self) -> Hello:
        """The features of the reference without S3, because tables are copied as folders."""
        return Hello(f"faulty:{self.name}", __version__, "python", (OFFERED | BYTES) - {"storage.s3"})


class ReadsChangedTable(FaultyEngine):
    """Reads a changed copy of the table, and does not check that its files fit together. Writes are correct."""

    def __init__(self, name: str, change: TableFault) -> None:
        super().__init__(name)
        self._change = change

    def read(self, table: str, query: Query) -> pa.Table:
        """The reference's rows of the copy."""
        with changed_copy(table, self._change) as copy:
            return super().read(copy, query)

    def inspect_table(self, uri: str) -> dict[str, Any]:
        """The reference's inspection of the copy."""
        with changed_copy(uri, self._change) as copy:
            return super().inspect_table(copy)

    def _opened(self, table: str, options: Mapping[str, str] | None = None) -> WritableTable:
        return replace(super()._opened(table, options), checks=NO_CHECKS)


class AnswersOtherQuery(FaultyEngine):
    """Answers another query than the one of the message."""

    def __init__(self, name: str, change: Callable[[Query], Query]) -> None:
        super().__init__(name)
        self._change = change

    def read(self, table: str, query: Query) -> pa.Table:
        """The rows of the other query."""
        return super().read(table, self._change(query))


class DropsNulls(FaultyEngine):
    """Returns zero, false or an empty string where a value is null."""

    def read(self, table: str, query: Query) -> pa.Table:
        """The reference's rows without nulls in columns of strings, numbers and booleans."""
        rows = super().read(table, query)
        for at, field in enumerate(rows.schema):
            if (blank := _blank(field.type)) is not None:
                rows = rows.set_column(at, field, pc.fill_null(rows.column(at), pa.scalar(blank, field.type)))
        return rows


def _blank(kind: pa.DataType) -> Any:
    if pa.types.is_string(kind):
        return ""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return 0
    return False if pa.types.is_boolean(kind) else None


class LosesWrites(FaultyEngine):
    """Writes into a copy of the table and answers that the write is done."""

    def write(self, table: str, operation: Operation, rows: pa.Table, *, options: Mapping[str, str] | None = None) -> str:
        """The instant of a commit that exists only in the copy, which is deleted before the answer."""
        with changed_copy(table, lambda _: None) as copy:
            return super().write(copy, operation, rows, options=options)


class ChangesInspection(FaultyEngine):
    """Answers the inspection of a file with a change."""

    def __init__(self, name: str, change: AnswerFault) -> None:
        super().__init__(name)
        self._change = change

    def inspect(self, uri: str, *, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
        """The reference's inspection of the file, changed."""
        return self._change(super().inspect(uri, keys=keys, prefix=prefix))


class ChangesArguments(FaultyEngine):
    """Computes one function of the contract for other arguments than those of the message."""

    def __init__(self, name: str, function: str, change: Callable[[Any], Any]) -> None:
        super().__init__(name)
        self._function, self._change = function, change

    def compute(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The reference's value for the changed arguments."""
        changed = {name: self._change(value) for name, value in arguments.items()}
        return super().compute(function, changed if function == self._function else arguments)


class HidesPendingInstants(FaultyEngine):
    """Answers a timeline without pending instants."""

    def inspect_table(self, uri: str) -> dict[str, Any]:
        """The reference's inspection without pending instants."""
        found = super().inspect_table(uri)
        return {**found, "timeline": {**found["timeline"], "pending": []}}


class AlwaysRefuses(FaultyEngine):
    """Declares every feature of the reference and refuses every message."""

    def read(self, table: str, query: Query) -> pa.Table:
        """Raises Refused."""
        raise Refused(f"read.{query.kind}", "not today")

    def inspect(self, uri: str, *, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
        """Raises Refused."""
        raise Refused("inspect.table", "not today")

    def compute(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Raises Refused."""
        raise Refused(f"compute.{function}", "not today")

    def create(self, table: str, spec: TableSpec) -> None:
        """Raises Refused."""
        raise Refused("create", "not today")

    def write(self, table: str, operation: Operation, rows: pa.Table, *, options: Mapping[str, str] | None = None) -> str:
        """Raises Refused."""
        raise Refused(f"write.{operation.replace('_', '-')}", "not today")


class RaisesOnEveryRead(FaultyEngine):
    """Creates, writes and services tables correctly, and answers every read, inspection and computation with an error.

    A test of the suite that passes with this engine compares no answer, unless it expects an error.
    """

    def read(self, table: str, query: Query) -> pa.Table:
        """Raises EngineError."""
        raise EngineError("this engine fails on every read")

    def inspect(self, uri: str, *, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
        """Raises EngineError."""
        raise EngineError("this engine fails on every inspection")

    def compute(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Raises EngineError."""
        raise EngineError("this engine fails on every computation")


class ClaimsFeaturesItLacks(FaultyEngine):
    """Declares every feature of the contract and reads copy-on-write tables only."""

    def hello(self) -> Hello:
        """All features of the contract."""
        return replace(super().hello(), features=frozenset(FEATURES))

    def read(self, table: str, query: Query) -> pa.Table:
        """The rows of a copy-on-write table; raises Refused for a merge-on-read table."""
        if super().inspect_table(table)["properties"].get("hoodie.table.type") == "MERGE_ON_READ":
            raise Refused("merge-on-read", "log files can't be read")
        return super().read(table, query)
