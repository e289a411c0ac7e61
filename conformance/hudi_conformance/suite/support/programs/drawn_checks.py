"""Checks of a property for everything that a strategy draws."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st


def check_for_all(most: int, check: Callable[..., None], *drawn: st.SearchStrategy[Any], shrinks: bool = True) -> None:
    """Check a property for what is drawn; every run draws the same.

    Args:
        most: how many examples are drawn at the most.
        check: raises AssertionError if the property does not hold.
        drawn: the strategies of its arguments.
        shrinks: whether the shortest counter-example is searched; without, the first one is reported, for slow checks.
    """
    settings(
        max_examples=most,
        phases=settings().phases if shrinks else (Phase.explicit, Phase.generate),
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )(given(*drawn)(check))()
