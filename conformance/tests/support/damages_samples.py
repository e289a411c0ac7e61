"""Damages of sound tables, for the tests of the validator: the table, the edit, the check that finds it, its rule."""

from collections.abc import Callable
from dataclasses import dataclass

from hudi_reference.storage import Storage


@dataclass(frozen=True)
class Damage:
    """A damage. `check` and `rule` are those of the finding; `also` are the rules that other checks may report with it."""

    name: str
    check: str
    rule: str
    make: Callable[[], Storage]
    edit: Callable[[Storage], object]
    also: tuple[str, ...] = ()
