"""How long the rest of a run takes: the stored seconds of cases, scaled to the engines of the run."""

import pytest

from hudi_conformance.runner.progress.forecast import Forecast, engine_of_node, format_duration, stored_seconds, timing_group

GOLDEN = "fixtures/merge/one/case.json::{}"
PROGRAM = "suite/merging/test_relay.py::test_relay[{}-COPY_ON_WRITE]"
ENGINES = ("apache-hudi@1.0.2", "apache-hudi", "reference")


@pytest.mark.parametrize(
    ("node", "group"),
    [(GOLDEN.format("reference"), "merge"), (PROGRAM.format("reference"), "test_relay.py::test_relay")],
)
def test_cases_of_one_kind_share_their_seconds(node: str, group: str):
    """A golden case takes the time of its folder, a Python case that of its test function."""
    assert timing_group(node) == group


@pytest.mark.parametrize(
    ("node", "engine"),
    [
        (GOLDEN.format("reference"), "reference"),
        (GOLDEN.format("apache-hudi@1.0.2@apache-hudi@1.0.2"), "apache-hudi@1.0.2"),
        (PROGRAM.format("apache-hudi"), "apache-hudi"),
        (PROGRAM.format("reference-to-apache-hudi@1.0.2"), "apache-hudi@1.0.2"),
    ],
)
def test_the_engine_of_a_node(node: str, engine: str):
    """The name in the node, also with the group of xdist behind it; in a relay the engine that reads."""
    assert engine_of_node(node, ENGINES) == engine


def test_the_time_left_follows_the_engine():
    """An engine that takes ten times as long as another has most of the time left."""
    forecast = Forecast(("one", "two"), {"merge": 1.0, "others": 1.0}, assumed=0.0)
    forecast.set_cases([GOLDEN.format(name) for name in ("one", "two") for _ in range(10)])
    assert forecast.remaining_seconds(0.0) is None
    for seconds in (1.0, 1.0):
        forecast.count_case(GOLDEN.format("one"), seconds)
        forecast.count_case(GOLDEN.format("two"), seconds * 10)
    left = forecast.remaining_seconds(elapsed=11.0)
    assert left == pytest.approx(44.0) and forecast.finished_share == pytest.approx(0.2)


def test_the_time_left_counts_cases_that_run_at_the_same_time():
    """If half of the work took ten seconds, so does the other half, however many processes run it."""
    forecast = Forecast(("one",), {"others": 2.0}, assumed=0.0)
    forecast.set_cases([PROGRAM.format("one")] * 4)
    for _ in range(2):
        forecast.count_case(PROGRAM.format("one"), 10.0)
    assert forecast.remaining_seconds(elapsed=10.0) == pytest.approx(10.0)


def test_a_first_case_that_starts_the_engine_promises_no_hours():
    """An engine that takes six seconds to start, before a case of 20 milliseconds, has minutes of a run of 40 seconds left."""
    forecast = Forecast(("one",), {"others": 0.02})
    forecast.set_cases([PROGRAM.format("one")] * 2000)
    forecast.count_case(PROGRAM.format("one"), 6.0)
    assert 40 < (forecast.remaining_seconds(elapsed=6.0) or 0) < 300


def test_stored_seconds_are_positive():
    """The file names groups of cases with their seconds."""
    assert stored_seconds()["others"] > 0 and min(stored_seconds().values()) > 0


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "an unknown time"), (0.2, "1 s"), (40, "40 s"), (170, "3 min"), (7260, "2 h 1 min")]
)
def test_durations_are_rounded(seconds: float | None, text: str):
    """As a person would say them."""
    assert format_duration(seconds) == text
