"""Which feature an engine may declare next, and how many more cases it would then be asked."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from hudi_conformance.cases.verdict import Result

#: So many single features, and so many sets of features, are suggested.
SINGLE, SETS = 6, 3


@dataclass(frozen=True)
class NextFeatures:
    """Features that an engine does not declare; with all of them it is asked `cases` more cases of this run."""

    features: tuple[str, ...]
    cases: int

    def __str__(self) -> str:
        """As in `read.filter: 8 more cases`."""
        return f"{' + '.join(self.features)}: {self.cases} more {'case' if self.cases == 1 else 'cases'}"


def find_next_features(results: Iterable[Result], engine: str) -> list[NextFeatures]:
    """What the engine may declare next: first single features, then sets that together open more cases than their parts."""
    lacking = Counter(r.missing_features for r in results if r.engine == engine and r.missing_features)
    gains = {wanted: sum(n for missing, n in lacking.items() if missing <= wanted) for wanted in lacking}
    single = sorted((f for f in gains if len(f) == 1), key=lambda f: (-gains[f], *f))
    sets = sorted((f for f in gains if len(f) > 1), key=lambda f: (-gains[f] / len(f), len(f), sorted(f)))
    return [NextFeatures(tuple(sorted(f)), gains[f]) for f in (*single[:SINGLE], *sets[:SETS])]
