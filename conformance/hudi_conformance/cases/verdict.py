"""Judging an engine's answer to a case: a pure function from case, engine and answer to a result."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Self, TypeAlias

import pyarrow as pa

from hudi_conformance.cases.case import Case
from hudi_conformance.cases.file_cases import Variant, Vector
from hudi_conformance.cases.inspection import Contradiction, find_contradiction
from hudi_conformance.cases.reads import Read
from hudi_conformance.cases.rows import Differences, Row, Rows, format_value
from hudi_conformance.contract.errors import (
    Conflict,
    EngineCrash,
    EngineTimeout,
    ProtocolFault,
    Refused,
)
from hudi_conformance.contract.messages import Hello
from hudi_conformance.contract.text import escape_controls
from hudi_conformance.requirements.chapters import OTHER


class Outcome(StrEnum):
    """Outcome of a case on an engine."""

    PASS = "pass"
    FAIL = "fail"
    REFUSED = "refused"
    UNSUPPORTED = "unsupported"
    OPEN = "open"
    ERROR = "error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    NOT_RUN = "not-run"

    @property
    def label(self) -> str:
        """The word in reports."""
        return {"fail": "wrong", "unsupported": "not offered", "not-run": "not run"}.get(self.value, self.value)

    @property
    def is_failure(self) -> bool:
        """Whether a list of expected failures must hold it. A refusal is reported separately and is not a failure."""
        return self in (Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.ERROR)

    @property
    def is_asked(self) -> bool:
        """Whether the engine was asked a question that has a right answer."""
        return self not in (Outcome.OPEN, Outcome.UNSUPPORTED, Outcome.NOT_RUN)


#: Pairs of expected and found values that a report shows of a case of many small questions.
SHOWN = 20

#: Outcomes in the order of reports: wrong answers first, because nothing else shows them.
WORST_FIRST = (
    Outcome.FAIL,
    Outcome.CRASH,
    Outcome.TIMEOUT,
    Outcome.ERROR,
    Outcome.NOT_RUN,
    Outcome.REFUSED,
    Outcome.OPEN,
    Outcome.UNSUPPORTED,
    Outcome.PASS,
)

#: Begins the message about features that an engine does not declare; their names follow.
NOT_OFFERED = "not offered: "


@dataclass(frozen=True)
class Judgement:
    """The part of a result that depends on the answer."""

    outcome: Outcome
    message: str = ""
    detail: str = ""
    pairs: tuple[tuple[Row | None, Row | None], ...] = ()


@dataclass(frozen=True)
class Result:
    """One case on one engine, complete enough for every report.

    `message` is one line that is the same on every run; `detail` is the rest of what the engine reported. `pairs` are rows that
    differ, expected and found side by side. `versions` are the table versions that the case is about. `listed` is the reason
    in the engine's list of expected failures, `flaky` the reason why the case may pass or fail; `surprise` is the difference to
    the expected result, None if there is none. `options` are those of the run on which the answer depends.
    """

    case: str
    engine: str
    outcome: Outcome
    chapter: str
    requirements: tuple[str, ...] = ()
    description: str = ""
    message: str = ""
    detail: str = ""
    pairs: tuple[tuple[Row | None, Row | None], ...] = ()
    because: str = ""
    flags: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
    versions: tuple[int, ...] = ()
    seconds: float = 0.0
    node: str = ""
    listed: str | None = None
    surprise: str | None = None
    flaky: str | None = None
    options: tuple[str, ...] = ()
    #: Counters of a Python test (`counters.MEANINGS`), if it passed.
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def rerun_command(self) -> str:
        """The command that runs this case on this engine again."""
        return shlex.join(["hudi-conformance", "run", self.engine, "--only", self.case, *self.options])

    @property
    def danger(self) -> tuple[str, ...]:
        """The flags of the case, if the engine gave a wrong answer. An error or a refusal does not have this danger."""
        return self.flags if self.outcome is Outcome.FAIL else ()

    @property
    def cause(self) -> str:
        """The probable cause of a wrong answer; empty if the engine did not answer."""
        return self.because if self.outcome is Outcome.FAIL else ""

    @property
    def missing_features(self) -> frozenset[str]:
        """The features that the case needs and the engine does not declare."""
        if self.outcome is not Outcome.UNSUPPORTED or not self.message.startswith(NOT_OFFERED):
            return frozenset()
        return frozenset(self.message.removeprefix(NOT_OFFERED).split(", "))

    def with_judgement(self, found: Judgement) -> Self:
        """The result with this judgement; control characters in what the engine said are escaped."""
        return replace(
            self, **vars(found) | {"message": escape_controls(found.message), "detail": escape_controls(found.detail)}
        )

    def to_json(self) -> dict[str, Any]:
        """The line of `report.jsonl`."""
        return asdict(self) | {"outcome": self.outcome.value, "seconds": round(self.seconds, 3), "rerun": self.rerun_command}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """The result in a line of `report.jsonl`; members that are not known are ignored."""
        names = {f.name for f in fields(cls)}
        known: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in raw.items() if k in names}
        known |= {"chapter": raw.get("chapter", OTHER)}
        known |= {"outcome": Outcome(raw["outcome"]), "pairs": tuple((e, f) for e, f in raw["pairs"])}
        return cls(**known)


#: Rows, the JSON of an inspection or of a value, an exception of the contract, or None if the engine was not asked.
Answer: TypeAlias = Any


def judge_answer(case: Case, engine: str, hello: Hello, answer: Answer, seconds: float = 0.0) -> Result:
    """The result of `case` on `engine`, whose introduction is `hello`; `answer` is None if it was not asked.

    For a case of several questions it is a list with an answer for each.
    """
    return replace(empty_result(case, engine).with_judgement(_judge(case, hello, answer)), seconds=seconds)


def empty_result(case: Case, engine: str) -> Result:
    """What is known about the case before it runs."""
    return Result(
        case=case.id,
        engine=engine,
        outcome=Outcome.ERROR,
        chapter=case.chapter,
        requirements=case.requirements,
        description=case.description,
        because=case.if_it_fails,
        flags=case.flags,
        errata=case.errata,
        versions=case.versions,
    )


def describe_missing_features(needs: tuple[str, ...], hello: Hello) -> str | None:
    """The features that an engine does not declare, as a message; None if it declares all."""
    missing = [f for f in needs if f not in hello.features]
    return f"{NOT_OFFERED}{', '.join(missing)}" if missing else None


def _judge(case: Case, hello: Hello, answer: Answer) -> Judgement:
    if (lack := describe_missing_features(case.needs, hello)) is not None:
        return Judgement(Outcome.UNSUPPORTED, lack)
    if case.vectors is not None:
        tests = case.vectors.tests
        return _together([(t.name, _judge_vector(t, a)) for t, a in zip(tests, answer, strict=True)])
    if case.variants:
        return _together([(v.name, _judge_variant(v, a)) for v, a in zip(case.variants, answer, strict=True)])
    if case.reads:
        return _together([(r.name, _judge_read(r, a)) for r, a in zip(case.reads, answer, strict=True)])
    return _judge_whole(case, answer)


def _judge_whole(case: Case, answer: Answer) -> Judgement:
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
    """The outcome of an exception of the contract; any other exception is an error too."""
    match error:
        case Refused():
            return Judgement(Outcome.REFUSED, f"refused {error.feature}: {one_line(error.message)}")
        case EngineTimeout():
            return Judgement(Outcome.TIMEOUT, one_line(str(error)))
        case EngineCrash():
            return Judgement(Outcome.CRASH, one_line(str(error)), error.stderr)
        case ProtocolFault():
            remedy = f"; {error.remedy}" if error.remedy else ""
            return Judgement(Outcome.ERROR, f"the adapter broke the protocol: {one_line(str(error))}{remedy}")
        case Conflict():
            return Judgement(Outcome.ERROR, f"conflict: {one_line(str(error))}")
    detail = getattr(error, "trace", None) or str(error)
    return Judgement(Outcome.ERROR, one_line(str(error)) or type(error).__name__, detail)


def _together(found: Sequence[tuple[str, Judgement]]) -> Judgement:
    """The judgement of a case of several questions: the worst outcome, and the first question that has it."""
    worst = min((judged.outcome for _, judged in found), key=WORST_FIRST.index)
    if worst is Outcome.PASS:
        return Judgement(worst)
    those = [(name, judged) for name, judged in found if judged.outcome is worst]
    others = [(name, judged) for name, judged in found if judged.outcome not in (worst, Outcome.PASS)]
    name, first = those[0]
    return replace(
        first,
        message=one_line(f"{len(those)} of {len(found)} {worst.label}, first {name}: {first.message}"),
        detail="\n".join(f"{name}: {judged.outcome.label}: {judged.message}" for name, judged in [*those, *others]),
        pairs=tuple(pair for _, judged in those for pair in judged.pairs)[:SHOWN],
    )


def _judge_variant(variant: Variant, answer: Answer) -> Judgement:
    """Judge the inspection of one damaged copy."""
    if isinstance(answer, BaseException):
        return _no_answer(answer, right=variant.error is not None or variant.or_error)
    if variant.inspect is None:
        return Judgement(Outcome.FAIL, f"answered as if nothing were broken ({variant.error})")
    return _contradicted([find_contradiction(right, answer) for right in (variant.inspect, *variant.accept)])


def _judge_read(read: Read, answer: Answer) -> Judgement:
    """Judge the rows of one query."""
    if isinstance(answer, BaseException):
        return _no_answer(answer, right=read.error is not None or read.or_error)
    if not read.rows:
        return Judgement(Outcome.FAIL, f"answered as if nothing were wrong ({read.error}): {_said(answer)}")
    return _compare_with(read.rows, answer)


def _judge_vector(vector: Vector, answer: Answer) -> Judgement:
    """Judge the value of a function."""
    if isinstance(answer, BaseException):
        return _no_answer(answer, right=vector.result != "valid")
    if vector.result == "invalid":
        return Judgement(Outcome.FAIL, f"a value for what is none: {format_value(answer)}")
    different = find_contradiction({"value": vector.value}, {"value": answer})
    return _contradicted([different])


def _no_answer(answer: BaseException, *, right: bool) -> Judgement:
    found = judge_exception(answer)
    honest = found.outcome in (Outcome.REFUSED, Outcome.ERROR) and not found.message.startswith("the adapter")
    return Judgement(Outcome.PASS) if right and honest else found


def _as_the_case_has_it(case: Case, found: Judgement) -> Judgement:
    """Judge an error, refusal or crash by what the case expects. A crash is never right, not even in an open case."""
    any_no = case.expected.error is not None or case.expected.or_error
    honest = (Outcome.REFUSED, Outcome.ERROR) if any_no else (Outcome.REFUSED,)
    expects_none = case.expected.refused is not None or any_no
    if case.expected.open and found.outcome in (Outcome.REFUSED, Outcome.ERROR):
        return replace(found, outcome=Outcome.OPEN)
    if expects_none and found.outcome in honest and not found.message.startswith("the adapter"):
        return replace(found, outcome=Outcome.PASS)
    if case.expected.refused is not None and found.outcome is Outcome.ERROR:
        return replace(found, message=f"failed loudly, but not as a refusal: {found.message}")
    return found


def _record(case: Case, answer: Answer) -> Judgement:
    """Record the answer to an open question: how it differs from the answer that the case names as likely."""
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
    return _compare_with(case.rows, answer)


def _compare_with(right: Sequence[Rows], answer: Answer) -> Judgement:
    """Right if it equals the expected rows or a further accepted answer; differences are those to the expected rows."""
    if not isinstance(answer, pa.Table):
        return Judgement(Outcome.ERROR, "the adapter broke the protocol: no rows in the answer")
    found: list[Differences] = []
    for rows in right:
        found.append(rows.compare(answer))
        if not found[-1]:
            return Judgement(Outcome.PASS)
    return Judgement(Outcome.FAIL, found[0].summary(), pairs=tuple(found[0].pairs()))


def _compare_inspections(case: Case, answer: Answer) -> Judgement:
    return _contradicted([find_contradiction(expected, answer) for expected in case.inspection])


def _contradicted(found: Sequence[Contradiction | None]) -> Judgement:
    """Right if one of the accepted answers is not contradicted; otherwise the contradiction of the first is reported."""
    first = found[0]
    if first is None or None in found:
        return Judgement(Outcome.PASS)
    return Judgement(Outcome.FAIL, first.summary(), pairs=(first.pair(),))


def one_line(text: str) -> str:
    """The first line of a message, without what differs from run to run: scratch paths and long numbers."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    first = re.sub(r"/[^\s'\"]*?/hudi-conformance-\w+/\d+\.arrow", "<rows>", first)
    first = re.sub(r"(file:/+|/)[^\s'\"]*?/table\d*(?=[/\s'\".,:;)]|$)", "<table>", first)
    # pytest cuts names in the middle ("...123.inflight"), and some messages lack a space before an instant.
    return re.sub(r"\b(0x[0-9a-f]+|\d{5,})\b|(?<=\.\.\.)\d+(?=\.)|(?<=[a-z])\d{17}\b", "#", first)[:300]
