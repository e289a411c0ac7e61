"""Rules that no engine of others judges in each of their roles, with the reason: `unjudged.toml` beside this module."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from hudi_conformance.report.evidence.coverage import CoverageEntry

FILE = Path(__file__).with_suffix(".toml")


def load_unjudged(path: Path = FILE) -> dict[str, str]:
    """The reason for each rule of the file, in the order of the file."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))["unjudged"]
    return {rule: group["reason"] for group in found for rule in group["rules"]}


def find_wrong_reasons(entries: Iterable[CoverageEntry], reasons: Mapping[str, str]) -> Iterator[str]:
    """Rules that are judged and in the file, that are not judged and not in it, and that do not exist."""
    judged = {entry.requirement.id: "judged" in entry.levels for entry in entries if not entry.excluded}
    yield from (f"{rule} is in {FILE.name} and judged: remove it" for rule in reasons if judged.get(rule))
    yield from (f"{FILE.name} has {rule}, which is no rule: remove it" for rule in reasons if rule not in judged)
    for rule, is_judged in judged.items():
        if not is_judged and rule not in reasons:
            yield f"{rule} is judged by no engine of others: add a case or a function, or the reason to {FILE.name}"
