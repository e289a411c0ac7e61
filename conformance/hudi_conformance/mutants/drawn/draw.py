"""Drawing mutants by a seed, and applying one when its module is imported."""

import ast
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from zlib import crc32

from hudi_conformance.mutants.drawn.operators import Site, find_sites

#: What the name of a drawn mutant begins with.
PREFIX = "drawn:"
#: Characters of the texts of a change.
LONGEST = 200
#: Bytes of memory of a process with a drawn mutant.
MEMORY = 8 << 30
#: Modules whose code is not observable from outside: the texts of errors, and packages that only import.
LEFT_OUT = ("errors.py", "requirement.py", "__init__.py")


@dataclass(frozen=True)
class Change:
    """A change of the reference by its content: it stays the same when code elsewhere in the file changes.

    `path` is relative to the package `hudi_reference`, `function` the qualified name of the function or class around it,
    `text` the source line, `before` and `after` the node and its replacement. Two changes of one function may be alike.
    """

    path: str
    function: str
    text: str
    operator: str
    before: str
    after: str

    def __str__(self) -> str:
        """Place, operator, and the text before and after."""
        return f"{self.path} ({self.function or 'module'}), {self.operator}: {self.before} → {self.after}"


@dataclass(frozen=True)
class DrawnMutant:
    """One change at one place of the reference. `number` is its position among the changes of its file, from 0.

    `path` is relative to the package `hudi_reference`, `text` is the source line.
    """

    path: str
    number: int
    site: Site
    text: str

    @property
    def name(self) -> str:
        """What `--mutant` takes: `drawn:PATH:NUMBER`. It is valid as long as the file does not change."""
        return f"{PREFIX}{self.path}:{self.number}"

    @property
    def change(self) -> Change:
        """What is changed."""
        s = self.site
        return Change(self.path, s.function, self.text, s.operator, shorten(s.before), shorten(s.after))


def shorten(text: str) -> str:
    """A text of at most 200 characters: the rest is replaced by its checksum."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 12]} … {crc32(text.encode()):08x}"


def reference_folder() -> Path:
    """The folder of the package `hudi_reference`, found without importing it."""
    found = find_spec("hudi_reference")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent


def mutants_of_source(path: str, text: str) -> Iterator[DrawnMutant]:
    """Every first-order mutant of one file of the reference."""
    lines = text.splitlines()
    found = enumerate(find_sites(ast.parse(text)))
    return (DrawnMutant(path, number, site, lines[site.line - 1].strip()) for number, site in found)


def draw_mutants(count: int, seed: int, root: Path | None = None) -> tuple[DrawnMutant, ...]:
    """`count` mutants, at most one of each line.

    Every line that can be changed has the same probability, and so has every operator that a line admits.
    """
    root = root or reference_folder()
    lines: dict[tuple[str, int], list[DrawnMutant]] = {}
    for file in sorted(root.rglob("*.py")):
        if file.name in LEFT_OUT:
            continue
        path = file.relative_to(root).as_posix()
        for found in mutants_of_source(path, file.read_text(encoding="utf-8")):
            lines.setdefault((path, found.site.line), []).append(found)
    chosen = random.Random(seed)
    places = chosen.sample(sorted(lines), min(count, len(lines)))
    return tuple(_draw_one(chosen, lines[place]) for place in places)


def _draw_one(chosen: random.Random, mutants: Sequence[DrawnMutant]) -> DrawnMutant:
    operator = chosen.choice(sorted({m.site.operator for m in mutants}))
    return chosen.choice([m for m in mutants if m.site.operator == operator])


def limit_memory() -> None:
    """Limit the memory of this process: a mutant may make the reference allocate without limit."""
    with suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def install_mutant(name: str) -> None:
    """Let this process import the module of the mutant with the change.

    Raises:
        LookupError: there is no such file or number, or the module has been imported already.
    """
    path, _, number = name.removeprefix(PREFIX).rpartition(":")
    if not (reference_folder() / path).is_file() or not number.isdecimal():
        raise LookupError(f"no mutant {name!r}: expected {PREFIX}PATH:NUMBER with a file of the reference")
    module = ".".join(("hudi_reference", *Path(path).with_suffix("").parts))
    if module in sys.modules:
        raise LookupError(f"{module} has been imported before the mutant was applied")
    sys.meta_path.insert(0, _Finder(module, path, int(number)))


class _Finder(MetaPathFinder):
    """Finds one module, and loads it with a change."""

    def __init__(self, module: str, path: str, number: int) -> None:
        self.module, self.path, self.number = module, path, number

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is not None and found.origin is not None:
            found.loader = _Loader(fullname, found.origin, self.number)
        return found


class _Loader(SourceFileLoader):
    """Compiles the changed tree; compiled files of the unchanged module are not used."""

    def __init__(self, fullname: str, path: str, number: int) -> None:
        super().__init__(fullname, path)
        self.number = number

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed module."""
        tree = ast.parse(self.get_data(self.path))
        sites = list(find_sites(tree))
        if self.number >= len(sites):
            raise LookupError(f"{self.path} has {len(sites)} mutants, not {self.number + 1}")
        sites[self.number].make()
        return compile(tree, self.path, "exec", dont_inherit=True)
