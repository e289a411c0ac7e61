"""How a bug is planted into the running reference, and taken out again."""

import ast
import difflib
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any

from hudi_conformance.cases.renames import current_mutant


class UnknownMutant(LookupError):
    """A name under which no bug is registered."""


class StaleMutant(LookupError):
    """The reference has changed, and the place where the bug was to be planted is no longer there."""


class Bug:
    """Changes of the running reference, undone together."""

    def __init__(self) -> None:
        self._undo = ExitStack()

    def edit(self, function: Any, old: str, new: str) -> None:
        """Replace `old` in the source of a function, method or property by `new`, for everyone who holds the function.

        `old` has to occur exactly once, so that a bug whose place has moved is noticed. One edit per function.
        """
        plain = _plain(function)
        source = textwrap.dedent(inspect.getsource(plain))
        if source.count(old) != 1:
            raise StaleMutant(f"{plain.__qualname__} holds {old!r} {source.count(old)} times, expected once")
        self.set(plain, "__code__", _compiled(plain, source.replace(old, new)))

    def set(self, owner: object, name: str, value: object) -> None:
        """Give an existing attribute of a module, class or function another value."""
        before = getattr(owner, name)
        setattr(owner, name, value)
        self._undo.callback(setattr, owner, name, before)

    def item(self, table: dict[Any, Any], key: object, value: object) -> None:
        """Give an existing entry of a normative table another value."""
        before = table[key]
        table[key] = value
        self._undo.callback(table.__setitem__, key, before)

    def undo(self) -> None:
        """Take every change back, latest first."""
        self._undo.close()


def _plain(function: Any) -> FunctionType:
    """The function behind a property, a cached property or a decorator that keeps what it wraps."""
    match function:
        case property():
            function = function.fget
        case cached_property():
            function = function.func
    function = inspect.unwrap(function)
    if not isinstance(function, FunctionType):
        raise TypeError(f"{function!r} is not a function written in Python")
    return function


def _compiled(function: FunctionType, source: str) -> Any:
    """The code of `function` with another source; a method that says super() finds its class again."""
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
    """One planted bug: what it is called, which rules it breaks, what it does wrong, and how it is planted."""

    name: str
    breaks: tuple[str, ...]
    description: str
    apply: Callable[[Bug], None]


_MUTANTS: dict[str, Mutant] = {}


def planted(*, breaks: str | tuple[str, ...]) -> Callable[[Callable[[Bug], None]], Callable[[Bug], None]]:
    """Register a function as a planted bug that breaks these rules.

    The bug is called like the function, with hyphens; its docstring says what the reference then does wrong.
    """

    def register(apply: Callable[[Bug], None]) -> Callable[[Bug], None]:
        name = apply.__name__.replace("_", "-")
        known = _MUTANTS.get(name)
        if known is not None and _place(known.apply) != _place(apply):  # a module may be loaded a second time
            raise ValueError(f"two planted bugs are called {name!r}")
        rules = (breaks,) if isinstance(breaks, str) else breaks
        _MUTANTS[name] = Mutant(name, rules, inspect.getdoc(apply) or "", apply)
        return apply

    return register


def _place(apply: Callable[[Bug], None]) -> tuple[str, int]:
    return apply.__code__.co_filename, apply.__code__.co_firstlineno


def all_mutants() -> tuple[Mutant, ...]:
    """Every planted bug, by name."""
    package = importlib.import_module("hudi_conformance.mutants")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    return tuple(_MUTANTS[name] for name in sorted(_MUTANTS))


@contextmanager
def plant(name: str) -> Iterator[Mutant]:
    """The reference with the bug `name` in it; without it again afterwards."""
    known = {m.name: m for m in all_mutants()}
    name = current_mutant(name)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3)
        raise UnknownMutant(f"no planted bug {name!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))
    bug = Bug()
    try:
        known[name].apply(bug)
        yield known[name]
    finally:
        bug.undo()
