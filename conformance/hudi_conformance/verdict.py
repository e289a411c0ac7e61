"""What an engine's answer to a case is worth: a pure function from case, engine and answer to a result."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Self, TypeAlias

import pyarrow as pa

from hudi_conformance.cases import Case
from hudi_conformance.contract.errors import (
    Conflict,
    EngineCrash,
    EngineTimeout,
    ProtocolFault,
    Refused,
)
from hudi_conformance.contract.messages import Hello
from hudi_conformance.inspection import contradiction
from hudi_conformance.rows import Differences, Row


class Outcome(StrEnum):
    """How a case ended for an engine."""

    PASS = "pass"
    FAIL = "fail"
    REFUSED = "refused"
    UNSUPPORTED = "unsupported"
    OPEN = "open"
    ERROR = "error"
    CRASH = "crash"
    TIMEOUT = "timeout"

    @property
    def words(self) -> str:
        """The word of reports."""
        return {"fail": "wrong", "unsupported": "not offered"}.get(self.value, self.value)

    @property
    def is_failure(self) -> bool:
        """Whether a list of expected failures must hold it. A refusal of what was declared belongs there too."""
        return self not in (Outcome.PASS, Outcome.OPEN, Outcome.UNSUPPORTED)


#: Outcomes in the order of reports: wrong answers first, because nobody notices them by themselves.
WORST_FIRST = (
    Outcome.FAIL,
    Outcome.CRASH,
    Outcome.TIMEOUT,
    Outcome.ERROR,
    Outcome.REFUSED,
    Outcome.OPEN,
    Outcome.UNSUPPORTED,
    Outcome.PASS,
)


@dataclass(frozen=True)
class Judgement:
    """The part of a result that the answer decides."""

    outcome: Outcome
    message: str = ""
    detail: str = ""
    pairs: tuple[tuple[Row | None, Row | None], ...] = ()


@dataclass(frozen=True)
class Result:
    """One case on one engine, complete enough for every report.

    `message` is one line that is the same on every run; `detail` is what else the engine said. `pairs` are rows that
    differ, expected and found side by side. `listed` is the reason in the engine's list of expected failures;
    `surprise` says in what way the result is not the expected one, None if it is.
    """

    case: str
    engine: str
    outcome: Outcome
    area: str
    requirements: tuple[str, ...] = ()
    description: str = ""
    message: str = ""
    detail: str = ""
    pairs: tuple[tuple[Row | None, Row | None], ...] = ()
    because: str = ""
    flags: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
    seconds: float = 0.0
    node: str = ""
    listed: str | None = None
    surprise: str | None = None

    @property
    def rerun(self) -> str:
        """The command that runs this case on this engine again."""
        return shlex.join(["hudi-conformance", "run", self.engine, "--only", self.case])

    def having(self, found: Judgement) -> Self:
        """The result with what the answer decided."""
        return replace(self, **vars(found))

    def to_json(self) -> dict[str, Any]:
        """The line of `report.jsonl`."""
        return asdict(self) | {"outcome": self.outcome.value, "seconds": round(self.seconds, 3), "rerun": self.rerun}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """The result in a line of `report.jsonl`."""
        known: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in raw.items() if k != "rerun"}
        known |= {"outcome": Outcome(raw["outcome"]), "pairs": tuple((e, f) for e, f in raw["pairs"])}
        return cls(**known)


#: What came back: rows, the JSON of an inspection, an exception of the contract, or None when nobody asked.
Answer: TypeAlias = pa.Table | Mapping[str, Any] | BaseException | None


def judge(case: Case, engine: str, hello: Hello, answer: Answer, seconds: float = 0.0) -> Result:
    """The result of `case` on `engine`, which introduced itself with `hello`; `answer` is None if it was not asked."""
    return replace(empty_result(case, engine).having(_judge(case, hello, answer)), seconds=seconds)


def empty_result(case: Case, engine: str) -> Result:
    """What is known about the case before it runs."""
    return Result(
        case=case.id,
        engine=engine,
        outcome=Outcome.ERROR,
        area=case.area,
        requirements=case.requirements,
        description=case.description,
        because=case.if_it_fails,
        flags=case.flags,
        errata=case.errata,
    )


def lacking(needs: tuple[str, ...], hello: Hello) -> str | None:
    """What stops an engine from being asked: the features it does not declare, as a message; None if it has all."""
    missing = [f for f in needs if f not in hello.features]
    return f"not offered: {', '.join(missing)}" if missing else None


def _judge(case: Case, hello: Hello, answer: Answer) -> Judgement:
    if (lack := lacking(case.needs, hello)) is not None:
        return Judgement(Outcome.UNSUPPORTED, lack)
    if isinstance(answer, BaseException):
        found = judge_exception(answer)
        return _as_the_case_has_it(case, found)
    if case.expected.open:
        return _record(case, answer)
    if case.expected.refused is not None and case.expected.rows is None:
        return Judgement(Outcome.FAIL, f"guessed instead of refusing {case.expected.refused}: {_said(answer)}")
    if case.expected.error is not None:
        return Judgement(Outcome.FAIL, f"answered as if nothing were broken ({case.expected.error}): {_said(answer)}")
    return _compare_inspections(case, answer) if case.inspects else _compare_rows(case, answer)


def judge_exception(error: BaseException) -> Judgement:
    """The outcome that an exception of the contract stands for; any other exception is an error too."""
    match error:
        case Refused():
            return Judgement(Outcome.REFUSED, f"refused {error.feature}: {one_line(error.message)}")
        case EngineTimeout():
            return Judgement(Outcome.TIMEOUT, one_line(str(error)))
        case EngineCrash():
            return Judgement(Outcome.CRASH, one_line(str(error)), error.stderr)
        case ProtocolFault():
            return Judgement(Outcome.ERROR, f"the adapter broke the protocol: {one_line(str(error))}")
        case Conflict():
            return Judgement(Outcome.ERROR, f"conflict: {one_line(str(error))}")
    detail = getattr(error, "trace", None) or str(error)
    return Judgement(Outcome.ERROR, one_line(str(error)) or type(error).__name__, detail)


def _as_the_case_has_it(case: Case, found: Judgement) -> Judgement:
    """An ending without an answer, seen from what the case expects. Dying is never right, also where all is open."""
    honest = (Outcome.REFUSED, Outcome.ERROR) if case.expected.error is not None else (Outcome.REFUSED,)
    expects_none = case.expected.refused is not None or case.expected.error is not None
    if case.expected.open and found.outcome in (Outcome.REFUSED, Outcome.ERROR):
        return replace(found, outcome=Outcome.OPEN)
    if expects_none and found.outcome in honest and not found.message.startswith("the adapter"):
        return replace(found, outcome=Outcome.PASS)
    if case.expected.refused is not None and found.outcome is Outcome.ERROR:
        return replace(found, message=f"failed loudly, but not as a refusal: {found.message}")
    return found


def _record(case: Case, answer: Answer) -> Judgement:
    """What the engine answered where nothing is settled: how it differs from what the case thinks likely."""
    if not case.rows and not case.inspection:
        return Judgement(Outcome.OPEN, _said(answer))
    found = _compare_inspections(case, answer) if case.inspects else _compare_rows(case, answer)
    likely = found.outcome is Outcome.PASS
    return replace(found, outcome=Outcome.OPEN, message="the answer that the case thinks likely" if likely else found.message)


def _said(answer: Answer) -> str:
    if isinstance(answer, pa.Table):
        return f"{answer.num_rows} rows"
    return "an inspection" if answer is not None else "nothing"


def _compare_rows(case: Case, answer: Answer) -> Judgement:
    """Right if it equals the expected rows or a further accepted answer; differences are told from the former."""
    if not isinstance(answer, pa.Table):
        return Judgement(Outcome.ERROR, "the adapter broke the protocol: no rows in the answer")
    found: list[Differences] = []
    for rows in case.rows:
        found.append(rows.compare(answer))
        if not found[-1]:
            return Judgement(Outcome.PASS)
    return Judgement(Outcome.FAIL, found[0].summary(), pairs=tuple(found[0].pairs()))


def _compare_inspections(case: Case, answer: Answer) -> Judgement:
    assert isinstance(answer, Mapping)
    told = [contradiction(expected, answer) for expected in case.inspection]
    if None in told:
        return Judgement(Outcome.PASS)
    first = told[0]
    assert first is not None
    return Judgement(Outcome.FAIL, first.summary(), pairs=(first.pair(),))


def one_line(text: str) -> str:
    """The first line of what an engine said, without what differs from run to run: scratch paths and long numbers."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    first = re.sub(r"(file:/+|/)[^\s'\"]*?/table(?=[/\s'\".,:;)]|$)", "<table>", first)
    return re.sub(r"\b(0x[0-9a-f]+|\d{5,})\b", "#", first)[:300]
