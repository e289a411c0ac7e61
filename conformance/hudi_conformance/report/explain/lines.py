"""Lines of an explanation: a label and a text each; long lists are cut."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from hudi_conformance.cases.renames import current_case, current_mutant
from hudi_conformance.report.evidence.evidence import Evidence

Line = tuple[str, str]

#: Outcome -> its word in reports, as `Outcome.label`, whose module takes long to import.
OUTCOME_WORDS = {"fail": "wrong", "unsupported": "not offered", "not-run": "not run"}

#: The number of entries of a list that are shown, unless all are requested.
SHOWN = 6


@dataclass(frozen=True)
class Explanation:
    """A heading, and label and text of each line; a label that repeats the one above is left out when shown."""

    heading: str
    lines: tuple[Line, ...]


#: Explains a name, or returns None for a name that it does not know; the flag asks for whole lists.
Explainer = Callable[[str, Evidence, bool], Explanation | None]


def outcome_words(outcome: str) -> str:
    """The word for an outcome in reports."""
    return OUTCOME_WORDS.get(outcome, outcome)


def current_names(name: str) -> tuple[str, str]:
    """The names of today of a case and of a mutant that may have been renamed; parameters of a test are dropped."""
    return current_case(name.partition("[")[0] if "::" in name else name), current_mutant(name)


def shorten_list(label: str, entries: Iterable[str], everything: bool, shown: int = SHOWN) -> Iterator[Line]:
    """The first entries of a list, and how many more there are."""
    found = list(entries)
    rest = [] if everything or len(found) <= shown + 1 else found[shown:]
    yield from ((label, entry) for entry in found[: len(found) - len(rest)])
    if rest:
        yield label, f"… and {len(rest)} more; --all shows them"
