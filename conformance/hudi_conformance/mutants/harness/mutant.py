"""Mutants: how one is declared, found, applied to the running reference, and reverted.

A mutant that replaces one text in one function is data: a table of a TOML file in the package of its chapter. A mutant that
changes more, or changes a normative table, is a function decorated with `mutant` in a module beside that file.
"""

import ast
import difflib
import importlib
import inspect
import pkgutil
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from hudi_conformance.cases.renames import current_mutant

FOLDER = Path(__file__).parents[1]


class UnknownMutant(LookupError):
    """No mutant has this name."""


class StaleMutant(LookupError):
    """The reference has changed: the text that the mutant replaces is no longer there, or not only once."""


class Patch:
    """Changes of the running reference that are reverted together.

    `places` are what was changed, as `module:qualified name`.
    """

    def __init__(self) -> None:
        self._undo = ExitStack()
        self.places: set[str] = set()

    def edit(self, function: Any, old: str, new: str) -> None:
        """Replace `old` in the source of a function, method or property by `new`.

        The code object of the function is replaced, so that modules that imported the function by name call the changed
        code too. One edit per function.

        Raises:
            StaleMutant: `old` does not occur exactly once.
            TypeError: `function` is not a function written in Python.
        """
        plain = _plain(function)
        source = textwrap.dedent(inspect.getsource(plain))
        if source.count(old) != 1:
            raise StaleMutant(f"{plain.__qualname__} contains {old!r} {source.count(old)} times, expected once")
        self.set(plain, "__code__", _compiled(plain, source.replace(old, new)))

    def set(self, owner: object, name: str, value: object) -> None:
        """Set an existing attribute of a module, class or function to another value."""
        before = getattr(owner, name)
        if isinstance(owner, type):  # as it is defined, because the class may define a static method
            before = vars(owner).get(name, before)
        self.places.add(_place_of(owner, name, before))
        setattr(owner, name, value)
        self._undo.callback(setattr, owner, name, before)

    def item(self, table: dict[Any, Any], key: object, value: object) -> None:
        """Set an existing entry of a normative table to another value."""
        before = table[key]
        self.places.add(_place_of_table(table))
        table[key] = value
        self._undo.callback(table.__setitem__, key, before)

    def undo(self) -> None:
        """Revert every change, latest first."""
        self._undo.close()


def _place_of(owner: object, name: str, before: object) -> str:
    """Where an attribute is defined whose value was `before`."""
    if isinstance(owner, ModuleType):
        defining = before if isinstance(before, FunctionType | type) else None
        return f"{owner.__name__}:{name}" if defining is None else f"{defining.__module__}:{defining.__qualname__}"
    if isinstance(owner, FunctionType):
        return f"{owner.__module__}:{owner.__qualname__}"
    kind = owner if isinstance(owner, type) else type(owner)
    return f"{kind.__module__}:{kind.__qualname__}"


def _place_of_table(table: object) -> str:
    """The constant of the reference that is this table; empty if there is none."""
    ours = [module for name, module in sys.modules.items() if name.startswith("hudi_reference")]
    found = (f"{m.__name__}:{name}" for m in ours for name, value in vars(m).items() if value is table)
    return min(found, default="")


def _plain(function: Any) -> FunctionType:
    """The function behind a property, a cached property, a class method or a decorator that keeps what it wraps."""
    function = function.fget if isinstance(function, property) else getattr(function, "func", function)
    function = inspect.unwrap(getattr(function, "__func__", function))
    if not isinstance(function, FunctionType):
        raise TypeError(f"{function!r} is not a function written in Python")
    return function


def _compiled(function: FunctionType, source: str) -> Any:
    """The code of `function` with another source; free variables (the class, for super()) stay bound."""
    tree = ast.parse(source)
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    names = function.__code__.co_freevars
    if names:
        outer = ast.parse(f"def outer({', '.join(names)}):\n    pass")
        assert isinstance(outer.body[0], ast.FunctionDef)
        outer.body[0].body = [definition]
        tree = outer
    code = compile(ast.fix_missing_locations(tree), function.__code__.co_filename, "exec")
    return _code_named(code, function.__name__)


def _code_named(code: Any, name: str) -> Any:
    """The code object of the function `name` somewhere inside `code`."""
    inner = [c for c in code.co_consts if inspect.iscode(c)]
    return next(found for c in inner if (found := c if c.co_name == name else _code_named(c, name)))


@dataclass(frozen=True)
class Mutant:
    """A fault of the reference: its name, the rules that it breaks, what it does, and the function that applies it.

    `module` names the module or, with dots, the TOML file that defines it.
    """

    name: str
    breaks: tuple[str, ...]
    description: str
    apply: Callable[[Patch], None]
    module: str = ""


def mutant(*, breaks: str | tuple[str, ...]) -> Callable[[Callable[[Patch], None]], Mutant]:
    """Make a mutant of a function.

    The name of the mutant is the name of the function with hyphens. Its description is the docstring of the function, which
    states what the reference does while the mutant is applied.

    Args:
        breaks: ids of the rules that the mutant breaks, the main one first.
    """
    rules = (breaks,) if isinstance(breaks, str) else breaks
    return lambda apply: Mutant(apply.__name__.replace("_", "-"), rules, inspect.getdoc(apply) or "", apply, apply.__module__)


@dataclass(frozen=True)
class Edit:
    """One replacement in the source of a function, which is named as `module:qualified.name`."""

    function: str
    old: str
    new: str

    def __call__(self, patch: Patch) -> None:
        """Apply it."""
        patch.edit(pkgutil.resolve_name(self.function), self.old, self.new)


def mutants_of_file(text: str, module: str) -> Iterator[Mutant]:
    """The mutants that a TOML file defines: a table for each, with the members of `Mutant` and of `Edit`."""
    for name, given in tomllib.loads(text).items():
        breaks, description = tuple(given.pop("breaks")), given.pop("description")
        yield Mutant(name, breaks, description, Edit(**given), module)


@cache
def all_mutants() -> tuple[Mutant, ...]:
    """Every mutant that a module or a TOML file of `hudi_conformance.mutants` defines, by name."""
    package = importlib.import_module("hudi_conformance.mutants")
    modules = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return collect([*_mutants_of_modules(importlib.import_module(m.name) for m in modules), *_mutants_of_files()])


def _mutants_of_modules(modules: Iterable[ModuleType]) -> Iterator[Mutant]:
    return (value for module in modules for value in vars(module).values() if isinstance(value, Mutant))


def _mutants_of_files() -> Iterator[Mutant]:
    for path in sorted(FOLDER.rglob("*.toml")):
        parts = path.relative_to(FOLDER).with_suffix("").parts
        yield from mutants_of_file(path.read_text(encoding="utf-8"), ".".join(("hudi_conformance.mutants", *parts)))


def collect(mutants: Iterable[Mutant]) -> tuple[Mutant, ...]:
    """These mutants by name; a mutant that a module imported from another one is found twice.

    Raises:
        ValueError: two mutants have the same name.
    """
    found: dict[str, Mutant] = {}
    for known in mutants:
        if found.setdefault(known.name, known) is not known:
            raise ValueError(f"two mutants are named {known.name!r}")
    return tuple(found[name] for name in sorted(found))


def changed_places(known: Mutant) -> tuple[str, ...]:
    """The code that a mutant changes, as `module:qualified name`.

    Raises:
        StaleMutant: the mutant no longer applies.
    """
    patch = Patch()
    try:
        known.apply(patch)
        return tuple(sorted(patch.places - {""}))
    finally:
        patch.undo()


@contextmanager
def apply_mutant(name: str) -> Iterator[Mutant]:
    """Apply the mutant `name` to the reference of this process; revert it at the end of the block.

    Raises:
        UnknownMutant: no mutant has this name.
        StaleMutant: the reference has changed, and the mutant no longer applies.
    """
    known = {m.name: m for m in all_mutants()}
    name = current_mutant(name)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3)
        raise UnknownMutant(f"no mutant {name!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))
    patch = Patch()
    try:
        known[name].apply(patch)
        clear_caches()
        yield known[name]
    finally:
        patch.undo()
        clear_caches()


def clear_caches() -> None:
    """Empty the caches of functions of the reference, whose results were computed without the mutant."""
    for name, module in sys.modules.items():
        if name.startswith("hudi_reference"):
            for function in _cached_functions(module, len(vars(module))):
                function.cache_clear()


@cache
def _cached_functions(module: ModuleType, size: int) -> tuple[Any, ...]:
    """The functions of a module that have a cache; `size`, the number of its names, tells whether it has more of them."""
    return tuple(value for value in vars(module).values() if hasattr(value, "cache_clear"))
