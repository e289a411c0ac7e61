"""Results of test items, and what pytest reports of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from hudi_conformance import counters
from hudi_conformance.cases.verdict import Outcome, Result, empty_result, judge_exception
from hudi_conformance.report.failure_text import format_failure
from hudi_conformance.runner import python_cases
from hudi_conformance.runner.golden_cases import CaseItem
from hudi_conformance.runner.session import Session


def make_result(item: pytest.Item, call: pytest.CallInfo[None]) -> Result:
    """The result of a golden case, or of a Python test."""
    if not isinstance(item, CaseItem):
        found = python_cases.make_python_result(item, call)
    elif item.result is not None and call.excinfo is None:
        found = item.result
    else:
        error = call.excinfo.value if call.excinfo is not None else RuntimeError("the case did not run")
        found = empty_result(item.case, item.name).with_judgement(judge_exception(error))
    tried = counters.taken()
    return replace(found, node=item.nodeid, counts=tried if found.outcome is Outcome.PASS else {})


def compare_with_list(report: pytest.TestReport, item: pytest.Item, result: Result, session: Session) -> None:
    """Set the outcome of `report` from the result and the engine's list of expected failures; the report carries the result."""
    result = session.compare(result)
    hello = session.hello(result.engine)
    report.hudi_result = result.to_json()  # type: ignore[attr-defined]
    report.hudi_hello = {  # type: ignore[attr-defined]
        "hello": None if hello is None else hello.to_json(),
        "failed_start": session.start_failure(result.engine),
    }
    item.user_properties += junit_properties(result)
    set_outcome(report, result)


def junit_properties(result: Result) -> list[tuple[str, object]]:
    """What a JUnit file says about the case."""
    facts = {"case": result.case, "engine": result.engine, "outcome": result.outcome.value}
    return [*facts.items(), ("requirements", " ".join(result.requirements))]


def set_outcome(report: pytest.TestReport, result: Result) -> None:
    """Set what pytest reports of a settled result."""
    if result.surprise is not None:
        _fail(report, result)
    elif result.outcome in (Outcome.UNSUPPORTED, Outcome.REFUSED, Outcome.NOT_RUN):
        report.outcome = "skipped"
        report.longrepr = (result.node, 0, f"Skipped: {result.message}")
    elif result.outcome.is_failure:
        report.outcome = "skipped"
        report.wasxfail = result.listed or f"flaky: {result.flaky}"
    else:
        report.outcome = "passed"
        report.longrepr = None


def _fail(report: pytest.TestReport, result: Result) -> None:
    """Report the block about the case; a Python test that ran keeps its traceback too."""
    if report.longrepr is None or report.when == "setup" or "::test_" not in result.case:
        report.longrepr = format_failure(result)
    else:
        report.sections.append(("hudi-conformance", format_failure(result)))
    report.outcome = "failed"


def compare_ended_with_list(
    report: pytest.TestReport, result: Result, session: Session, hellos: Mapping[str, dict[str, Any]]
) -> None:
    """The same for a case whose process ended; `hellos` are the introductions of engines that other reports carried."""
    result = session.compare(result)
    report.when = "call"
    report.hudi_result = result.to_json()  # type: ignore[attr-defined]
    report.hudi_hello = hellos.get(result.engine, {"hello": None, "failed_start": None})  # type: ignore[attr-defined]
    report.user_properties += junit_properties(result)
    set_outcome(report, result)
