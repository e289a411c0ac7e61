"""The link from the code to the rules of the specification."""

from collections.abc import Callable
from typing import Any, TypeVar

Marked = TypeVar("Marked", bound=Callable[..., Any])

#: Requirement id -> the functions and classes that carry the rule, as "module:qualified name"; filled by the decorator.
IMPLEMENTED: dict[str, list[str]] = {}


def implements(*ids: str) -> Callable[[Marked], Marked]:
    """Mark a function or class as the implementation of these rules, e.g. `@implements("LF-012")`. Behaviour is not changed."""

    def mark(marked: Marked) -> Marked:
        for rule in ids:
            IMPLEMENTED.setdefault(rule, []).append(f"{marked.__module__}:{marked.__qualname__}")
        return marked

    return mark
