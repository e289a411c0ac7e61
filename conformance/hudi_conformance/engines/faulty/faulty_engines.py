"""Test doubles: engines that each commit one sin, to test the suite itself.

A double is the reference with one fault. Sins against the data show in a distorted copy of the table or in another query than
the one that was asked, never in made-up rows. Sins against the dialogue run as real processes:
`python -m hudi_conformance.engines.faulty.faulty_engines SIN`.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance import __version__
from hudi_conformance.contract import FEATURES, Hello, Query, Refused, TableSpec
from hudi_conformance.contract.messages import Operation
from hudi_conformance.contract.serve import Answer, Streams, dispatch, parse, take_streams
from hudi_conformance.engines.faulty import answer_faults, table_faults
from hudi_conformance.engines.faulty.answer_faults import Twist
from hudi_conformance.engines.faulty.table_faults import Distortion, distorted
from hudi_conformance.engines.reference.engine import BYTES, OFFERED, Reference
from hudi_conformance.engines.support.info import EngineInfo

#: Seconds by which the late doubles are late, and the time limits that they then miss.
_LATE, _PATIENCE = 4.0, 2.0


@dataclass(frozen=True)
class Sin:
    """What a double does wrong, and how the suite should notice.

    `rules` are requirements that it breaks: a case that cites one of them must catch it with `outcome`. A double without rules
    sins against the contract, and any case of `area` catches it.
    """

    name: str
    sin: str
    area: str
    rules: tuple[str, ...]
    outcome: Literal["fail", "refused", "error", "crash", "timeout"]
    info: EngineInfo


class Double(Reference):
    """The reference under the name of a sin, on local tables only. Innocent until a subclass sins."""

    def __init__(self, name: str) -> None:
        self.name = name

    def hello(self) -> Hello:
        """The features of the reference, S3 apart: views are copies of folders."""
        return Hello(f"double:{self.name}", __version__, "python", (OFFERED | BYTES) - {"storage.s3"})


class Overlooks(Double):
    """Reads a distorted copy of the table; writes are honest."""

    def __init__(self, name: str, distort: Distortion) -> None:
        super().__init__(name)
        self._distort = distort

    def read(self, table: str, query: Query) -> pa.Table:
        """What the reference reads in the copy."""
        with distorted(table, self._distort) as copy:
            return super().read(copy, query)

    def inspect_table(self, uri: str) -> dict[str, Any]:
        """What the reference finds in the copy."""
        with distorted(uri, self._distort) as copy:
            return super().inspect_table(copy)


class Misunderstands(Double):
    """Answers another query than the one that was asked."""

    def __init__(self, name: str, understood: Callable[[Query], Query]) -> None:
        super().__init__(name)
        self._understood = understood

    def read(self, table: str, query: Query) -> pa.Table:
        """The rows of the other query."""
        return super().read(table, self._understood(query))


class DropsNulls(Double):
    """Gives zero, false or an empty text where a value is null."""

    def read(self, table: str, query: Query) -> pa.Table:
        """The reference's rows without nulls in columns of plain types."""
        rows = super().read(table, query)
        for at, field in enumerate(rows.schema):
            if (blank := _blank(field.type)) is not None:
                rows = rows.set_column(at, field, pc.fill_null(rows.column(at), pa.scalar(blank, field.type)))
        return rows


class LosesWrites(Double):
    """Writes into a copy of the table and says that it is done."""

    def write(self, table: str, operation: Operation, rows: pa.Table, *, options: Mapping[str, str] | None = None) -> str:
        """The instant of a commit that is gone when the answer arrives."""
        with distorted(table, lambda _: None) as copy:
            return super().write(copy, operation, rows, options=options)


class Misreads(Double):
    """Finds something else in a file than what is there."""

    def __init__(self, name: str, twist: Twist) -> None:
        super().__init__(name)
        self._twist = twist

    def inspect(self, uri: str, *, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
        """What the reference finds in the file, twisted."""
        return self._twist(super().inspect(uri, keys=keys, prefix=prefix))


class Miscomputes(Double):
    """Gives other arguments to a function than those that were asked."""

    def __init__(self, name: str, function: str, understood: Callable[[Any], Any]) -> None:
        super().__init__(name)
        self._function, self._understood = function, understood

    def compute(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The value for the misunderstood arguments."""
        mistaken = {name: self._understood(value) for name, value in arguments.items()}
        return super().compute(function, mistaken if function == self._function else arguments)


class HidesPendingInstants(Double):
    """Shows a timeline on which nothing is under way."""

    def inspect_table(self, uri: str) -> dict[str, Any]:
        """The reference's inspection without pending instants."""
        found = super().inspect_table(uri)
        return {**found, "timeline": {**found["timeline"], "pending": []}}


class AlwaysRefuses(Double):
    """Declares everything the reference offers and does nothing of it."""

    def read(self, table: str, query: Query) -> pa.Table:
        """Refused."""
        raise Refused(f"read.{query.kind}", "not today")

    def inspect(self, uri: str, *, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
        """Refused."""
        raise Refused("inspect.table", "not today")

    def compute(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Refused."""
        raise Refused(f"compute.{function}", "not today")

    def create(self, table: str, spec: TableSpec) -> None:
        """Refused."""
        raise Refused("create", "not today")

    def write(self, table: str, operation: Operation, rows: pa.Table, *, options: Mapping[str, str] | None = None) -> str:
        """Refused."""
        raise Refused(f"write.{operation.replace('_', '-')}", "not today")


class ClaimsFeaturesItLacks(Double):
    """Declares every feature there is and can read copy-on-write tables only."""

    def hello(self) -> Hello:
        """Everything."""
        return replace(super().hello(), features=frozenset(FEATURES))

    def read(self, table: str, query: Query) -> pa.Table:
        """Rows of copy-on-write tables."""
        if super().inspect_table(table)["properties"].get("hoodie.table.type") == "MERGE_ON_READ":
            raise Refused("merge-on-read", "log files can't be read")
        return super().read(table, query)


def _blank(kind: pa.DataType) -> Any:
    if pa.types.is_string(kind):
        return ""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return 0
    return False if pa.types.is_boolean(kind) else None


Behaviour = Callable[[str, Answer, Streams], None]


def _hang(op: str, answer: Answer, streams: Streams) -> None:
    if op != "hello":
        time.sleep(24 * 3600)
    streams.answer(answer)


def _crash(op: str, answer: Answer, streams: Streams) -> None:
    if op != "hello":
        print("double: out of memory, or so it seems", file=sys.stderr, flush=True)
        os._exit(3)
    streams.answer(answer)


def _answer_late(op: str, answer: Answer, streams: Streams) -> None:
    if op != "hello":
        time.sleep(_LATE)
    streams.answer(answer)


def _start_late(op: str, answer: Answer, streams: Streams) -> None:
    if op == "hello":
        time.sleep(_LATE)
    streams.answer(answer)


def _print_junk(op: str, answer: Answer, streams: Streams) -> None:
    if op != "hello":
        streams.answers.write("Reading the table, please wait ...\n")
    streams.answer(answer)


def _answer_with_a_wrong_id(op: str, answer: Answer, streams: Streams) -> None:
    streams.answer(answer if op == "hello" else {**answer, "id": answer["id"] + 1})


def _break_the_schema(op: str, answer: Answer, streams: Streams) -> None:
    streams.answer(answer if op == "hello" else {"id": answer["id"], "result": {k: answer[k] for k in answer if k != "id"}})


_BEHAVIOURS: dict[str, Behaviour] = {
    "hangs": _hang,
    "crashes": _crash,
    "answers-late": _answer_late,
    "starts-late": _start_late,
    "prints-junk": _print_junk,
    "wrong-id": _answer_with_a_wrong_id,
    "breaks-the-schema": _break_the_schema,
}


def _overlooks(name: str, sin: str, area: str, rules: str, distort: Distortion) -> Sin:
    return _wrong(name, sin, area, rules, partial(Overlooks, name, distort))


def _wrong(
    name: str,
    sin: str,
    area: str,
    rules: str,
    make: Callable[[], Double],
    outcome: Literal["fail", "refused"] = "fail",
) -> Sin:
    info = EngineInfo(f"double:{name}", sin, factory=make)
    return Sin(name, sin, area, tuple(rules.split()), outcome, info)


def _misreads(name: str, sin: str, area: str, rules: str, twist: Twist) -> Sin:
    return _wrong(name, sin, area, rules, partial(Misreads, name, twist))


def _miscomputes(name: str, sin: str, function: str, area: str, rules: str, understood: Callable[[Any], Any]) -> Sin:
    return _wrong(name, sin, area, rules, partial(Miscomputes, name, function, understood))


def _ascii(value: Any) -> Any:
    """Texts without what is not ASCII, also in lists."""
    if isinstance(value, list):
        return [_ascii(item) for item in value]
    return value.encode("ascii", "replace").decode() if isinstance(value, str) else value


def _plain_text(value: Any) -> Any:
    return value.replace("\\$", "$") if isinstance(value, str) else value


def _rude(
    name: str,
    sin: str,
    outcome: Literal["error", "crash", "timeout"],
    start_timeout: float = 30.0,
    message_timeout: float = 30.0,
) -> Sin:
    info = EngineInfo(
        f"double:{name}",
        sin,
        argv=(sys.executable, "-m", "hudi_conformance.engines.faulty.faulty_engines", name),
        start_timeout=start_timeout,
        message_timeout=message_timeout,
    )
    return Sin(name, sin, "queries", (), outcome, info)


_ALL = (
    _overlooks("ignores-logs", "reads base files only", "merge", "TYP-006 RDR-017", table_faults.without_logs),
    _overlooks("drops-deletes", "passes over delete blocks", "log", "BLK-006 BLK-012", table_faults.without_delete_blocks),
    _overlooks("ignores-rollbacks", "passes over rollback commands", "log", "BLK-004", table_faults.without_rollback_commands),
    _overlooks(
        "ignores-the-timeline",
        "takes every data file in storage for committed and no group for replaced",
        "timeline",
        "TL-033 RDR-008",
        table_faults.with_every_file_committed,
    ),
    _overlooks(
        "reads-uncommitted",
        "takes requested and inflight writes for completed",
        "timeline",
        "RDR-006 RDR-008 TL-033",
        table_faults.with_pending_writes_completed,
    ),
    _overlooks(
        "reads-stale-rows", "misses the latest commit", "queries", "RDR-003 TYP-007", table_faults.without_the_latest_commit
    ),
    _overlooks(
        "reads-replaced-groups",
        "reads file groups that a replacecommit hides",
        "timeline",
        "RDR-010 TL-010",
        table_faults.with_no_group_replaced,
    ),
    _overlooks(
        "returns-duplicates",
        "returns the rows of old slices beside those of new ones",
        "queries",
        "TYP-007 LAY-023 RDR-012",
        table_faults.with_a_group_for_each_base_file,
    ),
    _overlooks(
        "ignores-ordering",
        "lets the later commit win whatever the ordering values say",
        "merge",
        "MRG-028 MRG-029 MRG-014",
        table_faults.with_commit_time_ordering,
    ),
    _overlooks(
        "guesses",
        "reads tables of unknown version or merge strategy as if it knew them",
        "layout",
        "COMPAT-002 COMPAT-004 API-008",
        table_faults.with_known_versions,
    ),
    _wrong(
        "wrong-projection",
        "returns all columns whichever are asked for",
        "queries",
        "TYP-007 MRG-015",
        partial(Misunderstands, "wrong-projection", lambda query: replace(query, columns=None)),
    ),
    _wrong(
        "ignores-filters",
        "returns all rows whichever are asked for",
        "queries",
        "MRG-015",
        partial(Misunderstands, "ignores-filters", lambda query: replace(query, where=())),
    ),
    _wrong(
        "ignores-as-of",
        "answers a time-travel query with the latest rows",
        "queries",
        "TYP-008",
        partial(Misunderstands, "ignores-as-of", lambda query: replace(query, kind="snapshot") if query.as_of else query),
    ),
    _wrong("drops-nulls", "gives zero or an empty text for null", "queries", "TYP-007", partial(DropsNulls, "drops-nulls")),
    _wrong(
        "loses-writes",
        "says that a write is done and keeps nothing of it",
        "relay",
        "LAY-002 TYP-007",
        partial(LosesWrites, "loses-writes"),
    ),
    _wrong(
        "hides-pending-instants",
        "shows a timeline without pending instants",
        "timeline",
        "TL-025 TL-053",
        partial(HidesPendingInstants, "hides-pending-instants"),
    ),
    _misreads("hides-damage", "shows only what is whole in a damaged file", "log", "BLK-015", answer_faults.without_damage),
    _misreads("stops-at-damage", "shows nothing behind the first damage", "log", "BLK-017", answer_faults.up_to_the_damage),
    _misreads("counts-from-one", "takes the first row for row 1", "log", "LF-042", answer_faults.with_positions_from_one),
    _misreads("widens-orderings", "takes int orderings for long", "log", "BLK-009", answer_faults.with_int_orderings_as_long),
    _misreads(
        "ends-early", "misses the last entry of an HFile", "hfile", "BF-002", answer_faults.without_entries_of_the_last_key
    ),
    _miscomputes("knows-only-ascii", "hashes keys without their marks", "bloom.may-hold", "bloom", "IDX-004", _ascii),
    _miscomputes("splits-at-once", "splits at an escaped delimiter", "secondary-key.decode", "hashing", "IDX-026", _plain_text),
    _wrong("always-refuses", "refuses what it declares", "queries", "", partial(AlwaysRefuses, "always-refuses"), "refused"),
    _wrong(
        "claims-features-it-lacks",
        "declares merge-on-read and can't read it",
        "merge",
        "",
        partial(ClaimsFeaturesItLacks, "claims-features-it-lacks"),
        "refused",
    ),
    _rude("hangs", "never answers after hello", "timeout", message_timeout=_PATIENCE),
    _rude("crashes", "ends in the middle of a message", "crash"),
    _rude("answers-late", "answers after the time limit", "timeout", message_timeout=_PATIENCE),
    _rude("starts-late", "answers hello after the time limit", "timeout", start_timeout=_PATIENCE),
    _rude("prints-junk", "prints to standard output", "error"),
    _rude("wrong-id", "answers with the id of another message", "error"),
    _rude("breaks-the-schema", "answers in a shape of its own", "error"),
)

#: Every sin by its name; the engine is called `double:<name>`.
SINS: dict[str, Sin] = {sin.name: sin for sin in _ALL}


def main() -> None:
    """Run one of the doubles that sin against the dialogue."""
    parser = argparse.ArgumentParser(prog="python -m hudi_conformance.engines.faulty.faulty_engines")
    parser.add_argument("sin", choices=sorted(_BEHAVIOURS))
    name = parser.parse_args().sin
    streams, double = take_streams(), Double(name)
    for line in streams.messages:
        message = parse(line)
        if message["op"] == "bye":
            break
        _BEHAVIOURS[name](message["op"], dispatch(double, message), streams)


if __name__ == "__main__":
    main()
