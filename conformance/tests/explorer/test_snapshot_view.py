"""Views of states: what invariants ask of a state is computed once."""

import pytest

from hudi_conformance.explorer.invariants.snapshot_view import SnapshotView


def test_a_function_is_called_once_for_a_state_and_its_arguments():
    """Another argument, another function and another state are computed by themselves."""
    asked = []

    def rows(view: SnapshotView, *given: str) -> int:
        asked.append((view, *given))
        return len(asked)

    one, other = SnapshotView({}), SnapshotView({})
    assert [
        one.cached_result(rows, "1"),
        one.cached_result(rows, "1"),
        one.cached_result(rows, "2"),
        one.cached_result(rows),
        other.cached_result(rows, "1"),
    ] == [
        1,
        1,
        2,
        3,
        4,
    ]
    assert one.cached_result(lambda view: view is one)
    assert [view is other for view, *_ in asked] == [False, False, False, True]


def test_an_error_is_raised_each_time():
    """A state that cannot be read violates the invariant in every run that leads to it."""

    def unreadable(view: SnapshotView) -> None:
        raise ValueError("damaged")

    view = SnapshotView({})
    for _ in range(2):
        with pytest.raises(ValueError, match="damaged"):
            view.cached_result(unreadable)
