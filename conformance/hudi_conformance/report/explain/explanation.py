"""What is known of a name: a rule, case, mutant, erratum, feature, area or chapter, as lines with labels."""

import difflib
from collections.abc import Iterable

from hudi_conformance.report.evidence.evidence import Evidence
from hudi_conformance.report.explain import cases, rules
from hudi_conformance.report.explain.lines import Explainer, Explanation
from hudi_conformance.requirements import chapters, errata
from hudi_conformance.requirements import requirement as index

#: So many names are suggested for an unknown one.
SUGGESTIONS = 8


class UnknownName(LookupError):
    """Nothing has this name; `near` are similar names."""

    def __init__(self, name: str, near: list[str]) -> None:
        super().__init__(f"nothing is called {name!r}")
        self.near = near


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
    explainers: tuple[Explainer, ...] = (*rules.EXPLAINERS, *cases.EXPLAINERS)
    for explainer in explainers:
        if (found := explainer(name, evidence, everything)) is not None:
            return found
    raise UnknownName(name, similar_names(name, known_names(evidence)))


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


def similar_names(name: str, known: Iterable[str]) -> list[str]:
    """Names that are similar to `name`, or hold it."""
    lower = {k.lower(): k for k in known}
    inside = [k for k in lower if name.lower() in k]
    close = difflib.get_close_matches(name.lower(), lower, n=5, cutoff=0.5)
    return [lower[k] for k in dict.fromkeys([*close, *inside])][:SUGGESTIONS]
