"""Which partitions a clustering considers, RFC-19 "Filter specific partitions"."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from hudi_reference.errors import Misuse
from hudi_reference.requirement import implements
from hudi_reference.services.clustering.settings import ClusteringSettings

#: Takes the sorted partitions, the settings, and the hour of the day.
Filter = Callable[[Sequence[str], ClusteringSettings, int], Sequence[str]]


@implements("CLU-010")
def partitions_to_cluster(partitions: Iterable[str], settings: ClusteringSettings, mode: str, hour: int) -> list[str]:
    """The partitions that the settings select. Days and hours in paths are compared as texts.

    First partitions are selected by name or pattern, then by `mode`; `hour` of the day, from 0 to 23, is for DAY_ROLLING.
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
            "the pattern of partitions is not valid", rule="CLU-010", expected="a regular expression", found=str(error)
        ) from error


def _recent_partitions(found: Sequence[str], settings: ClusteringSettings, _: int) -> Sequence[str]:
    """The newest partitions, newest first, without the skipped ones."""
    newest = sorted(found, reverse=True)[settings.skipped :]
    return newest[: settings.recent] if settings.recent else newest


def _selected_partitions(found: Sequence[str], settings: ClusteringSettings, _: int) -> Sequence[str]:
    """The partitions between the two names, both included; an empty name is no limit."""
    return [p for p in found if settings.begin <= p and (not settings.end or p <= settings.end)]


#: By `hoodie.clustering.plan.partition.filter.mode`.
FILTERS: Mapping[str, Filter] = {
    "NONE": lambda found, *_: found,
    "RECENT_DAYS": _recent_partitions,
    "SELECTED_PARTITIONS": _selected_partitions,
    "DAY_ROLLING": lambda found, _, hour: [p for place, p in enumerate(found) if place % 24 == hour],
}
