"""All cases that the modules of this package generate."""

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import tools.corpus
from tools.corpus.case import Case

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Made:
    """A case and the file of the module that generates it, relative to the repository."""

    case: Case
    source: str

    def files(self) -> dict[str, bytes | None]:
        """The files of the case by path; None for a file that is kept as committed."""
        return self.case.files(self.source)


def find_cases(pattern: str = "*") -> list[Made]:
    """The cases whose id matches, sorted by id. Raises ValueError if two modules use the same id."""
    found = sorted(_all(), key=lambda made: made.case.id)
    if twice := [name for name, count in Counter(made.case.id for made in found).items() if count > 1]:
        raise ValueError(f"two cases of one id: {twice}")
    return [made for made in found if fnmatch(made.case.id, pattern)]


def _all() -> Iterator[Made]:
    for module in map(importlib.import_module, sorted(_modules())):
        make = getattr(module, "cases", None)
        if make is not None:
            source = Path(str(module.__file__)).relative_to(ROOT).as_posix()
            yield from (Made(case, source) for case in make())


def _modules() -> Iterator[str]:
    prefix = f"{tools.corpus.__name__}."
    for module in pkgutil.walk_packages([str(Path(path)) for path in tools.corpus.__path__], prefix):
        if not module.name.endswith(".__main__"):
            yield module.name
