"""Damages of sound tables, for the tests of the validator: the table, the edit, the check that finds it, its rule."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hudi_conformance.validator.checks.finding import SEVERITIES, Finding, Severity
from hudi_reference.storage import Storage

#: The severity of most findings of a check, by its name or the beginning of it; of the other checks it is "wrong-answers".
_SEVERITIES: dict[Severity, tuple[str, ...]] = {
    "data-lost": (
        "layout.moved-actions", "presence.base-files", "presence.named-files", "results.compactions", "timeline.actions",
        "traces.closed-plans", "traces.newer-parent", "traces.replaced-groups", "traces.rolled-back", "traces.same-parent",
        "traces.seen-completed",
    ),
    "lost-space": ("history.unlisted-files", "layout.names", "leftovers.", "metadata.left-over-indexes"),
    "cosmetic": (
        "actions.own-times", "history.listed-once", "history.order", "history.version-file", "layout.other-files",
        "layout.partition-metadata", "owners.file-ids", "plans.clusterings", "plans.compactions", "plans.versions",
        "presence.unprotected", "properties.create-schema", "properties.initial-version", "properties.made-merging",
        "removal-plans.", "removal-records.entries", "removal-records.restored-to", "removal-records.still-pending",
        "settings.dropped-columns", "settings.orderings", "statistics.", "timeline.calendar", "timeline.completion-times",
        "timeline.pairs", "traces.exclusive-plans",
    ),
}  # fmt: skip


def _usual_severity(check: str) -> Severity:
    return next((severity for severity, names in _SEVERITIES.items() if check.startswith(names)), "wrong-answers")


def _text(finding: Finding) -> str:
    return "\n".join((finding.path, finding.meaning, finding.expected, finding.found, finding.remedy))


@dataclass(frozen=True)
class Damage:
    """A damage. `check` and `rule` are those of the finding; `also` are the rules that other checks may report with it.

    `severity` is that of the finding, if it is not the usual one of the check. `says` is a part of its path or its texts.
    """

    name: str
    check: str
    rule: str
    make: Callable[[], Storage]
    edit: Callable[[Storage], object]
    also: tuple[str, ...] = ()
    severity: Severity | None = None
    says: str = ""

    def is_found(self, findings: Iterable[Finding]) -> bool:
        """Whether one of the findings has the rule and the severity, and says what it should."""
        return any((one.rule, one.severity) == (self.rule, self.worst) and self.says in _text(one) for one in findings)

    def is_no_worse(self, findings: Iterable[Finding]) -> bool:
        """Whether no finding of the check with the rule is more severe."""
        severities = [SEVERITIES.index(one.severity) for one in findings if one.rule == self.rule]
        return all(one >= SEVERITIES.index(self.worst) for one in severities)

    @property
    def worst(self) -> Severity:
        """The severity of the finding."""
        return self.severity or _usual_severity(self.check)

    def explains(self, rule: str, severity: str) -> bool:
        """Whether other checks may report the rule. What a damaged write says of itself may contradict its statistics, too."""
        return rule in (self.rule, *self.also) or (rule, severity) == ("TL-005", "cosmetic")
