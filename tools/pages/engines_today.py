"""`docs/what-engines-do-today.md`: every known difference of the engines, from their lists of expected failures."""

from collections.abc import Mapping, Sequence

from hudi_conformance.cases.flags import DANGERS
from hudi_conformance.report.evidence.evidence import CitedCase, gather_evidence
from hudi_conformance.report.site.known_failures import Difference, Failures, list_overviews, sections_by_outcome
from hudi_conformance.requirements import errata
from hudi_conformance.runner import expected_failures

HEAD = """\
# What engines do today

This page lists the known failures of each engine, from the lists of expected failures. A run of the suite fails if one of them
no longer occurs, or if another failure occurs. This page is written by `python -m tools.pages`.

A *wrong answer* is an answer without an error; these failures are dangerous and are listed first. An *error* is reported
where an answer is expected. The numbers count the cases that fail for the same reason. `hudi-conformance explain CASE`
explains a case, and `hudi-conformance run ENGINE --only CASE` runs it.

The column *danger* says what a wrong answer to such a case may do ([dangers](#dangers)). The last column has a case, and the
[errata](../conformance/hudi_conformance/errata.toml) about the difference.
"""


def engines_page() -> str:
    """The page's text."""
    loaded = [expected_failures.load_list(path.stem, path) for path in sorted(expected_failures.lists_folder().glob("*.toml"))]
    failures = {known.engine: tuple(known.entries.values()) for known in loaded if known.entries}
    cases = {case.id: case for case in gather_evidence().cases}
    parts = [HEAD, _overview(failures)]
    for _, title, found in sections_by_outcome(failures):
        parts.append(f"\n## {title}\n\n" + _table(found, list(failures), cases))
    return "".join([*parts, _dangers()])


def _dangers() -> str:
    rows = "".join(f"| `{flag}` | {meaning} |\n" for flag, meaning in DANGERS.items())
    return f"\n## Dangers\n\nThe flags of golden cases:\n\n| flag | a wrong answer may mean that |\n|---|---|\n{rows}"


def _overview(failures: Failures) -> str:
    lines = ["", "| engine | differences | cases | wrong answers |", "|---|---|---|---|"]
    lines += (f"| `{one.engine}` | {one.differences} | {one.cases} | {one.wrong} |" for one in list_overviews(failures))
    return "\n".join(lines) + "\n"


def _table(found: Sequence[Difference], engines: Sequence[str], cases: Mapping[str, CitedCase]) -> str:
    names = " | ".join(f"`{engine}`" for engine in engines)
    lines = [f"| what happens | {names} | danger | example, errata |", "|---" * (len(engines) + 3) + "|"]
    for one in found:
        counts = " | ".join(str(len(one.cases_of(engine)) or "") for engine in engines)
        lines.append(f"| {_what(one)} | {counts} | {', '.join(one.danger(cases))} | {_example(one)} |")
    return "\n".join(lines) + "\n"


def _what(one: Difference) -> str:
    recipe = f"<br>*Recipe:* {one.recipe}" if one.recipe else ""
    return f"{one.reason}{recipe}".replace("|", "\\|")


def _example(one: Difference) -> str:
    where = {found.id: found.reference for found in errata.errata()}
    told = " ".join(f'<abbr title="{where[id_]}">{id_}</abbr>' if id_ in where else id_ for id_ in one.errata)
    return f"`{one.shortest}` {told}".strip().replace("|", "\\|")
