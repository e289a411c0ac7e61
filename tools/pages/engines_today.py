"""`docs/what-engines-do-today.md`: every known difference of the engines, from their lists of expected failures."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hudi_conformance.cases.verdict import Outcome
from hudi_conformance.report.evidence.evidence import CitedCase, gather
from hudi_conformance.requirements import errata
from hudi_conformance.runner import expected_failures

HEAD = """\
# What engines do today

This page lists the known failures of each engine, from the lists of expected failures. A run of the suite fails if one of them
no longer occurs, or if another failure occurs. This page is written by `python -m tools.pages`.

A *wrong answer* is an answer without an error; these failures are dangerous and are listed first. An *error* is reported
where an answer is expected. The numbers count the cases that fail for the same reason. `hudi-conformance explain CASE`
explains a case, and `hudi-conformance run ENGINE --only CASE` runs it.
"""

SECTIONS: dict[Outcome, str] = {
    Outcome.FAIL: "Wrong answers",
    Outcome.CRASH: "Crashes",
    Outcome.TIMEOUT: "Hangs",
    Outcome.ERROR: "Errors instead of answers",
}

#: An engine's entry about one case.
Listed = tuple[str, expected_failures.Entry]


@dataclass(frozen=True)
class Difference:
    """The failures of one or several engines for one reason."""

    reason: str
    listed: tuple[Listed, ...]

    def cases_of(self, engine: str) -> list[str]:
        """The cases in which an engine fails for this reason."""
        return sorted(entry.case for name, entry in self.listed if name == engine)

    @property
    def shortest(self) -> str:
        """The case with the shortest id, as an example."""
        return min((entry.case for _, entry in self.listed), key=lambda case: (len(case), case))

    @property
    def recipe(self) -> str:
        """The steps that reproduce it by hand; empty if there are none."""
        return next((entry.recipe for _, entry in self.listed if entry.recipe), "")

    @property
    def errata(self) -> list[str]:
        """The errata that explain the decision of the project."""
        return sorted({entry.erratum for _, entry in self.listed if entry.erratum})


def engines_page() -> str:
    """The page's text."""
    loaded = [expected_failures.load(path.stem, path) for path in sorted(expected_failures.root().glob("*.toml"))]
    lists = [known for known in loaded if known.entries]
    engines = [known.engine for known in lists]
    cases = {case.id: case for case in gather().cases}
    parts = [HEAD, _overview(lists)]
    for outcome, title in SECTIONS.items():
        found = _differences((known.engine, e) for known in lists for e in known.entries.values() if e.outcome is outcome)
        if found:
            parts.append(f"\n## {title}\n\n" + _table(found, engines, cases))
    return "".join(parts)


def _overview(lists: Sequence[expected_failures.ExpectedFailures]) -> str:
    lines = ["", "| engine | differences | cases | wrong answers |", "|---|---|---|---|"]
    for known in lists:
        entries = known.entries.values()
        silent = sum(entry.outcome is Outcome.FAIL for entry in entries)
        lines.append(f"| `{known.engine}` | {len({entry.reason for entry in entries})} | {len(entries)} | {silent} |")
    return "\n".join(lines) + "\n"


def _differences(listed: Iterable[Listed]) -> list[Difference]:
    """One for each reason; first those of most engines, then of most cases."""
    by_reason: dict[str, list[Listed]] = defaultdict(list)
    for engine, entry in listed:
        by_reason[entry.reason].append((engine, entry))
    found = [Difference(reason, tuple(entries)) for reason, entries in by_reason.items()]
    return sorted(found, key=lambda one: (-len({name for name, _ in one.listed}), -len(one.listed), one.reason))


def _table(found: Sequence[Difference], engines: Sequence[str], cases: Mapping[str, CitedCase]) -> str:
    names = " | ".join(f"`{engine}`" for engine in engines)
    lines = [f"| what happens | {names} | danger | example, errata |", "|---" * (len(engines) + 3) + "|"]
    for one in found:
        counts = " | ".join(str(len(one.cases_of(engine)) or "") for engine in engines)
        lines.append(f"| {_what(one)} | {counts} | {_danger(one, cases)} | {_example(one)} |")
    return "\n".join(lines) + "\n"


def _what(one: Difference) -> str:
    recipe = f"<br>*Recipe:* {one.recipe}" if one.recipe else ""
    return f"{one.reason}{recipe}".replace("|", "\\|")


def _danger(one: Difference, cases: Mapping[str, CitedCase]) -> str:
    known = (cases[entry.case] for _, entry in one.listed if entry.case in cases)
    return ", ".join(sorted({flag for case in known for flag in case.flags}))


def _example(one: Difference) -> str:
    where = {found.id: found.reference for found in errata.errata()}
    told = " ".join(f'<abbr title="{where[id_]}">{id_}</abbr>' if id_ in where else id_ for id_ in one.errata)
    return f"`{one.shortest}` {told}".strip().replace("|", "\\|")
