"""The link from the code to the rules of the specification."""

from collections.abc import Callable
from typing import Any, TypeVar

Marked = TypeVar("Marked", bound=Callable[..., Any])
_NAME = "__implements__"


def implements(*ids: str) -> Callable[[Marked], Marked]:
    """Mark a function or class as the implementation of these rules, e.g. `@implements("LF-012")`. Behaviour is not changed."""

    def mark(marked: Marked) -> Marked:
        setattr(marked, _NAME, (*rules_of(marked), *ids))
        return marked

    return mark


def rules_of(marked: Any) -> tuple[str, ...]:
    """The rules of a function, class, property or class method; a class does not inherit those of its base classes."""
    for name in ("fget", "func", "__func__"):
        marked = getattr(marked, name, marked)
    found: tuple[str, ...] = vars(marked).get(_NAME, ()) if hasattr(marked, "__dict__") else ()
    return found
