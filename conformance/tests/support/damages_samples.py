"""Damages of sound tables, for the tests of the validator: the table, the edit, the check that finds it, its rule."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hudi_conformance.validator.checks.finding import Finding
from hudi_reference.storage import Storage


@dataclass(frozen=True)
class Damage:
    """A damage. `check` and `rule` are those of the finding; `also` are the rules that other checks may report with it.

    `severity` is that of the finding, for a check that reports several.
    """

    name: str
    check: str
    rule: str
    make: Callable[[], Storage]
    edit: Callable[[Storage], object]
    also: tuple[str, ...] = ()
    severity: str | None = None

    def is_found(self, findings: Iterable[Finding]) -> bool:
        """Whether one of the findings has the rule, and the severity if there is one."""
        return any(one.rule == self.rule and self.severity in (None, one.severity) for one in findings)

    def explains(self, rule: str, severity: str) -> bool:
        """Whether other checks may report the rule. What a damaged write says of itself may contradict its statistics, too."""
        return rule in (self.rule, *self.also) or (rule, severity) == ("TL-005", "cosmetic")
