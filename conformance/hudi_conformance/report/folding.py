"""Equal failures of one engine, folded into one: the same wrong rows or the same message in several cases are one fault."""

import json
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from hudi_conformance.cases.verdict import Outcome, Result


@dataclass(frozen=True)
class Fault:
    """One fault of an engine: the first result that shows it, and all cases that do, in the order of the results."""

    first: Result
    cases: tuple[str, ...]


def fold_by_fault(results: Iterable[Result]) -> list[Fault]:
    """The faults in the results, in the order of their first results."""
    found: dict[Hashable, list[Result]] = {}
    for result in results:
        found.setdefault(_fault(result), []).append(result)
    return [Fault(group[0], tuple(result.case for result in group)) for group in found.values()]


def _fault(result: Result) -> Hashable:
    """What two results of one fault have in common. Wrong answers are equal only if all their rows are."""
    shown = json.dumps(result.pairs) if result.outcome is Outcome.FAIL else ""
    if result.outcome is Outcome.FAIL and not result.pairs:
        return result.engine, result.case.partition("[")[0], result.message, result.detail  # a test with other parameters
    return result.engine, result.outcome, result.message, shown, result.cause, result.danger, result.surprise


def fold_by_reason(results: Iterable[Result]) -> list[Fault]:
    """Known failures of one engine with one outcome and one reason, as one fault each."""
    found: dict[Hashable, list[Result]] = {}
    for result in results:
        reason = result.flaky if result.listed is None else result.listed
        found.setdefault((result.engine, result.outcome, reason), []).append(result)
    return [Fault(group[0], tuple(result.case for result in group)) for group in found.values()]
