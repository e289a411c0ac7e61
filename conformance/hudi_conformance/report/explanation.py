"""What is known of a name: a rule, case, mutant, erratum, feature, area or chapter, as lines with labels."""

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from hudi_conformance.cases.renames import current_case, current_mutant
from hudi_conformance.report.evidence import Evidence
from hudi_conformance.requirements import chapters, errata
from hudi_conformance.requirements import requirement as index

Line = tuple[str, str]

#: So many entries of a list are shown, unless all are asked for.
SHOWN = 6

#: So many names are suggested for an unknown one.
SUGGESTIONS = 8


@dataclass(frozen=True)
class Explanation:
    """A heading, and label and text of each line; a label that repeats the one above is left out when shown."""

    heading: str
    lines: tuple[Line, ...]


class Unknown(LookupError):
    """Nothing has this name; `near` are similar names."""

    def __init__(self, name: str, near: list[str]) -> None:
        super().__init__(f"nothing is called {name!r}")
        self.near = near


#: Explains a name, or returns None for a name that it does not know; the flag asks for whole lists.
Explainer = Callable[[str, Evidence, bool], Explanation | None]


def explain(name: str, evidence: Evidence, everything: bool = False) -> Explanation:
    """What is known of `name`.

    Args:
        name: id of a rule, an erratum or a case (of today or before it was renamed), name of a mutant, feature, area or
            chapter.
        evidence: what is known.
        everything: show long lists as a whole.

    Raises:
        Unknown: nothing has this name.
    """
    from hudi_conformance.report import explain_cases, explain_rules

    explainers: tuple[Explainer, ...] = (*explain_rules.EXPLAINERS, *explain_cases.EXPLAINERS)
    for explainer in explainers:
        if (found := explainer(name, evidence, everything)) is not None:
            return found
    raise Unknown(name, near(name, known_names(evidence)))


def known_names(evidence: Evidence) -> list[str]:
    """Everything that can be explained."""
    return [
        *index.requirements(),
        *(area.id for area in index.areas()),
        *chapters.chapters(),
        *(erratum.id for erratum in errata.errata()),
        *(case.id for case in evidence.cases),
        *(kill.name for kill in evidence.kills),
        *evidence.features,
    ]


def near(name: str, known: Iterable[str]) -> list[str]:
    """Names that are similar to `name`, or hold it."""
    lower = {k.lower(): k for k in known}
    inside = [k for k in lower if name.lower() in k]
    close = difflib.get_close_matches(name.lower(), lower, n=5, cutoff=0.5)
    return [lower[k] for k in dict.fromkeys([*close, *inside])][:SUGGESTIONS]


def renamed(name: str) -> tuple[str, str]:
    """The names of today of a case and of a mutant that may have been renamed; parameters of a test are dropped."""
    return current_case(name.partition("[")[0] if "::" in name else name), current_mutant(name)


def cut(label: str, entries: Iterable[str], everything: bool, shown: int = SHOWN) -> Iterator[Line]:
    """The first entries of a list, and how many more there are."""
    found = list(entries)
    rest = [] if everything or len(found) <= shown + 1 else found[shown:]
    yield from ((label, entry) for entry in found[: len(found) - len(rest)])
    if rest:
        yield label, f"… and {len(rest)} more; --all shows them"
