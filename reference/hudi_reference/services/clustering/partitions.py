"""Which partitions a clustering looks at, RFC-19 "Filter specific partitions"."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from hudi_reference.errors import Misuse
from hudi_reference.requirement import implements
from hudi_reference.services.clustering.settings import ClusteringSettings

#: The partitions in the order in which they are looked at, the settings, the hour of the day.
Filter = Callable[[Sequence[str], ClusteringSettings, int], Sequence[str]]


@implements("CLU-010")
def partitions_to_cluster(partitions: Iterable[str], settings: ClusteringSettings, mode: str, hour: int) -> list[str]:
    """Those of the partitions that the settings admit. Days and hours in paths are in order where their texts are.

    Named or matching ones first, then `mode` chooses among these; `hour` of the day, from 0 to 23, is for DAY_ROLLING.
    """
    found = sorted(set(partitions))
    if settings.selected:
        found = [partition for partition in found if partition in settings.selected]
    elif settings.pattern:
        pattern = _pattern(settings.pattern)
        found = [partition for partition in found if pattern.fullmatch(partition)]
    return list(FILTERS[mode](found, settings, hour))


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise Misuse(
            "not a pattern of partitions", rule="CLU-010", expected="a regular expression", found=str(error)
        ) from error


def _recent(found: Sequence[str], settings: ClusteringSettings, _: int) -> Sequence[str]:
    """The newest ones, the newest first, after those that are skipped."""
    newest = sorted(found, reverse=True)[settings.skipped :]
    return newest[: settings.recent] if settings.recent else newest


def _selected(found: Sequence[str], settings: ClusteringSettings, _: int) -> Sequence[str]:
    """Those from the first to the last one that is named, both included; without a name there is no end."""
    return [p for p in found if settings.begin <= p and (not settings.end or p <= settings.end)]


#: By `hoodie.clustering.plan.partition.filter.mode`.
FILTERS: Mapping[str, Filter] = {
    "NONE": lambda found, *_: found,
    "RECENT_DAYS": _recent,
    "SELECTED_PARTITIONS": _selected,
    "DAY_ROLLING": lambda found, _, hour: [p for place, p in enumerate(found) if place % 24 == hour],
}
