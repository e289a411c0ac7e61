"""Equal findings folded into one, and the words for the severities."""

from collections.abc import Iterable
from dataclasses import dataclass

from hudi_conformance.validator.checks.finding import SEVERITIES, Finding, Severity

#: The headings of the severities.
TITLES: dict[Severity, str] = {
    "wrong-answers": "wrong answers",
    "data-lost": "data lost",
    "lost-space": "lost space",
    "cosmetic": "cosmetic",
}


@dataclass(frozen=True)
class Folded:
    """Findings of one rule with the same meaning; `first` stands for all of them."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The first of them."""
        return self.findings[0]


def fold(findings: Iterable[Finding]) -> tuple[Folded, ...]:
    """The findings by severity, rule and meaning, in their order."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.rule, finding.meaning), []).append(finding)
    return tuple(Folded(tuple(group)) for group in groups.values())


def counts(findings: Iterable[Finding]) -> str:
    """`2 wrong answers, 1 lost space`; `no findings`."""
    found = [finding.severity for finding in findings]
    words = (f"{found.count(severity):,} × {TITLES[severity]}" for severity in SEVERITIES if severity in found)
    return ", ".join(words) or "no findings"
