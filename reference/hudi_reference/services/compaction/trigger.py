"""When a compaction is due, by the settings of deployed writers.

It depends on the number of delta commits that completed after the last compaction was requested, and on the time since then.
For an explicit call the default is one delta commit; for inline compaction it is five, as for deployed writers.
"""

from collections.abc import Callable, Mapping
from datetime import tzinfo

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.services.planning.compaction_plan import number
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.instants.times import format_time

STRATEGY_KEY = "hoodie.compact.inline.trigger.strategy"
COMMITS_KEY = "hoodie.compact.inline.max.delta.commits"
SECONDS_KEY = "hoodie.compact.inline.max.delta.seconds"

#: Whether a plan is due, by whether there are enough delta commits and whether enough time has passed.
TRIGGERS: Mapping[str, Callable[[bool, bool], bool]] = {
    "NUM_COMMITS": lambda enough, _: enough,
    "NUM_COMMITS_AFTER_LAST_REQUEST": lambda enough, _: enough,
    "TIME_ELAPSED": lambda _, late: late,
    "NUM_OR_TIME": lambda enough, late: enough or late,
    "NUM_AND_TIME": lambda enough, late: enough and late,
}


def check_settings(options: Mapping[str, str]) -> None:
    """Raises Misuse and UnsupportedTableFeature for invalid settings."""
    if options.get(STRATEGY_KEY, "NUM_COMMITS") not in TRIGGERS:
        raise UnsupportedTableFeature(
            "an unknown trigger strategy of compaction", rule="CMP-001", path=STRATEGY_KEY,
            expected=" or ".join(TRIGGERS), found=options[STRATEGY_KEY],
        )  # fmt: skip
    number(options, COMMITS_KEY, 1, least=1)
    number(options, SECONDS_KEY, 3600)


def is_due(timeline: Timeline, options: Mapping[str, str], now: int, zone: tzinfo | None) -> bool:
    """Whether a compaction is due by these settings; `now` in milliseconds. Raises Misuse, UnsupportedTableFeature."""
    check_settings(options)
    name = options.get(STRATEGY_KEY, "NUM_COMMITS")
    last = _last_compaction(timeline, planned=name == "NUM_COMMITS_AFTER_LAST_REQUEST")
    after = "" if last is None else last.requested
    deltas = [c for c in timeline.commits if c.action == "deltacommit" and (c.completion or c.requested) > after]
    if not deltas:
        return False
    enough = len(deltas) >= number(options, COMMITS_KEY, 1, least=1)
    since = after or deltas[0].requested
    late = since <= format_time(now - 1000 * number(options, SECONDS_KEY, 3600), zone)
    return TRIGGERS[name](enough, late)


def _last_compaction(timeline: Timeline, *, planned: bool) -> Instant | None:
    """The newest completed compaction; with `planned` also one that is pending."""
    found = [
        instant
        for instant in timeline.writes
        if (instant.state is State.COMPLETED and instant.action == "commit") or (planned and instant.action == "compaction")
    ]
    return found[-1] if found else None
