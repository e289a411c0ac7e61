"""The faulty engines: one known fault each, and the rules that it breaks."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from hudi_conformance.engines.faulty import answer_faults, table_faults
from hudi_conformance.engines.faulty.answer_faults import AnswerFault
from hudi_conformance.engines.faulty.data_faults import (
    AlwaysRefuses,
    AnswersOtherQuery,
    ChangesArguments,
    ChangesInspection,
    ClaimsFeaturesItLacks,
    DropsNulls,
    FaultyEngine,
    HidesPendingInstants,
    LosesWrites,
    RaisesOnEveryRead,
    ReadsChangedTable,
)
from hudi_conformance.engines.faulty.table_faults import TableFault
from hudi_conformance.engines.support.info import EngineInfo

#: The time limit in seconds of engines that miss it; shorter than `protocol_faults.LATE`.
_TIMEOUT = 2.0


@dataclass(frozen=True)
class Fault:
    """One faulty engine.

    Attributes:
        name: the engine is called `faulty:<name>`.
        description: what it does wrong.
        area: the area of golden cases that detect it.
        rules: the requirements that it breaks: a case that cites one of them must detect it. A fault without rules violates the
            contract, and every case of `area` detects it.
        outcome: the outcome of the cases that detect it.
        info: how the engine is started.
    """

    name: str
    description: str
    area: str
    rules: tuple[str, ...]
    outcome: Literal["fail", "refused", "error", "crash", "timeout"]
    info: EngineInfo


def _answers_wrongly(
    name: str,
    description: str,
    area: str,
    rules: str,
    make: Callable[[], FaultyEngine],
    outcome: Literal["fail", "refused", "error"] = "fail",
) -> Fault:
    info = EngineInfo(f"faulty:{name}", description, factory=make)
    return Fault(name, description, area, tuple(rules.split()), outcome, info)


def _reads_changed_table(name: str, description: str, area: str, rules: str, change: TableFault) -> Fault:
    return _answers_wrongly(name, description, area, rules, partial(ReadsChangedTable, name, change))


def _changes_inspection(name: str, description: str, area: str, rules: str, change: AnswerFault) -> Fault:
    return _answers_wrongly(name, description, area, rules, partial(ChangesInspection, name, change))


def _changes_arguments(
    name: str, description: str, function: str, area: str, rules: str, change: Callable[[Any], Any]
) -> Fault:
    return _answers_wrongly(name, description, area, rules, partial(ChangesArguments, name, function, change))


def _violates_protocol(
    name: str,
    description: str,
    outcome: Literal["error", "crash", "timeout"],
    start_timeout: float = 30.0,
    message_timeout: float = 30.0,
) -> Fault:
    info = EngineInfo(
        f"faulty:{name}",
        description,
        argv=(sys.executable, "-m", "hudi_conformance.engines.faulty.protocol_faults", name),
        start_timeout=start_timeout,
        message_timeout=message_timeout,
    )
    return Fault(name, description, "queries", (), outcome, info)


def _ascii(value: Any) -> Any:
    """Strings, also in lists, with a question mark for each character that is not ASCII."""
    if isinstance(value, list):
        return [_ascii(item) for item in value]
    return value.encode("ascii", "replace").decode() if isinstance(value, str) else value


def _unescaped(value: Any) -> Any:
    return value.replace("\\$", "$") if isinstance(value, str) else value


_ALL = (
    _reads_changed_table("ignores-logs", "reads base files only", "merge", "TYP-006 RDR-017", table_faults.without_logs),
    _reads_changed_table(
        "drops-deletes", "ignores delete blocks", "log", "BLK-006 BLK-012", table_faults.without_delete_blocks
    ),
    _reads_changed_table(
        "ignores-rollbacks", "ignores rollback commands", "log", "BLK-004", table_faults.without_rollback_commands
    ),
    _reads_changed_table(
        "ignores-the-timeline",
        "treats every data file in storage as committed and no file group as replaced",
        "timeline",
        "TL-033 RDR-008",
        table_faults.with_every_file_committed,
    ),
    _reads_changed_table(
        "reads-uncommitted",
        "treats requested and inflight writes as completed",
        "timeline",
        "RDR-006 RDR-008 TL-033",
        table_faults.with_pending_writes_completed,
    ),
    _reads_changed_table(
        "reads-stale-rows",
        "does not see the latest commit",
        "queries",
        "RDR-003 TYP-007",
        table_faults.without_the_latest_commit,
    ),
    _reads_changed_table(
        "reads-replaced-groups",
        "reads file groups that a replacecommit replaced",
        "timeline",
        "RDR-010 TL-010",
        table_faults.with_no_group_replaced,
    ),
    _reads_changed_table(
        "returns-duplicates",
        "returns the rows of old file slices together with those of new ones",
        "queries",
        "TYP-007 LAY-023 RDR-012",
        table_faults.with_a_group_for_each_base_file,
    ),
    _reads_changed_table(
        "ignores-ordering",
        "keeps the change of the later commit and ignores ordering values",
        "merge",
        "MRG-028 MRG-029 MRG-014",
        table_faults.with_commit_time_ordering,
    ),
    _reads_changed_table(
        "guesses",
        "reads tables of an unknown version or merge strategy instead of refusing them",
        "layout",
        "COMPAT-002 COMPAT-004 API-008",
        table_faults.with_known_versions,
    ),
    _answers_wrongly(
        "wrong-projection",
        "ignores the projection and returns all columns",
        "queries",
        "TYP-007 MRG-015",
        partial(AnswersOtherQuery, "wrong-projection", lambda query: replace(query, columns=None)),
    ),
    _answers_wrongly(
        "ignores-filters",
        "ignores the filter and returns all rows",
        "queries",
        "MRG-015",
        partial(AnswersOtherQuery, "ignores-filters", lambda query: replace(query, where=())),
    ),
    _answers_wrongly(
        "ignores-as-of",
        "answers a time-travel query with the latest rows",
        "queries",
        "TYP-008",
        partial(AnswersOtherQuery, "ignores-as-of", lambda query: replace(query, kind="snapshot") if query.as_of else query),
    ),
    _answers_wrongly(
        "drops-nulls", "returns zero or an empty string for null", "queries", "TYP-007", partial(DropsNulls, "drops-nulls")
    ),
    _answers_wrongly(
        "loses-writes",
        "answers that a write is done and stores nothing",
        "queries",
        "LAY-002 TYP-007",
        partial(LosesWrites, "loses-writes"),
    ),
    _answers_wrongly(
        "hides-pending-instants",
        "shows a timeline without pending instants",
        "timeline",
        "TL-025 TL-053",
        partial(HidesPendingInstants, "hides-pending-instants"),
    ),
    _changes_inspection(
        "hides-damage", "omits the damaged blocks of a log file", "log", "BLK-015", answer_faults.without_damage
    ),
    _changes_inspection(
        "stops-at-damage", "omits everything after the first damaged block", "log", "BLK-017", answer_faults.up_to_first_damage
    ),
    _changes_inspection(
        "counts-from-one", "counts record positions from 1 instead of 0", "log", "LF-042", answer_faults.with_positions_from_one
    ),
    _changes_inspection(
        "widens-orderings", "answers int ordering values as long", "log", "BLK-009", answer_faults.with_int_orderings_as_long
    ),
    _changes_inspection(
        "ends-early", "omits the last entry of an HFile", "hfile", "BF-002", answer_faults.without_entries_of_the_last_key
    ),
    _changes_arguments(
        "knows-only-ascii",
        "replaces characters of a key that are not ASCII before it hashes the key",
        "bloom.may-hold",
        "bloom",
        "IDX-004",
        _ascii,
    ),
    _changes_arguments(
        "splits-at-once",
        "splits a secondary key at an escaped delimiter",
        "secondary-key.decode",
        "hashing",
        "IDX-026",
        _unescaped,
    ),
    _answers_wrongly(
        "always-refuses",
        "refuses the features that it declares",
        "queries",
        "",
        partial(AlwaysRefuses, "always-refuses"),
        "refused",
    ),
    _answers_wrongly(
        "raises-on-every-read",
        "writes correctly and answers every read and inspection with an error",
        "queries",
        "",
        partial(RaisesOnEveryRead, "raises-on-every-read"),
        "error",
    ),
    _answers_wrongly(
        "claims-features-it-lacks",
        "declares merge-on-read and cannot read it",
        "merge",
        "",
        partial(ClaimsFeaturesItLacks, "claims-features-it-lacks"),
        "refused",
    ),
    _violates_protocol("hangs", "never answers after hello", "timeout", message_timeout=_TIMEOUT),
    _violates_protocol("crashes", "exits in the middle of a message", "crash"),
    _violates_protocol("answers-late", "answers after the time limit", "timeout", message_timeout=_TIMEOUT),
    _violates_protocol("starts-late", "answers hello after the time limit", "timeout", start_timeout=_TIMEOUT),
    _violates_protocol("prints-junk", "prints to standard output", "error"),
    _violates_protocol("wrong-id", "answers with the id of another message", "error"),
    _violates_protocol("breaks-the-schema", "answers in a form that the schema rejects", "error"),
)

#: The faulty engines by the names of their faults.
FAULTS: dict[str, Fault] = {fault.name: fault for fault in _ALL}
