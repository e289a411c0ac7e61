"""The settings of clustering plans, by Hudi's names, as a table. The defaults are those of the classes of Apache Hudi 1.0.2.

The draft RFC-19 has strategies that no release has, and no names for them and the seed of one; these names are ours.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from hudi_reference.errors import Misuse
from hudi_reference.requirement import implements
from hudi_reference.settings import boolean_setting

Options = Mapping[str, str]
MODES = ("NONE", "RECENT_DAYS", "SELECTED_PARTITIONS", "DAY_ROLLING")
_PLAN = "hoodie.clustering.plan.strategy."


@dataclass(frozen=True)
class Setting:
    """One setting: its name and older names, its default, and the function that parses its text."""

    name: str
    default: str
    read: Callable[[str, str], Any]
    meaning: str
    alternatives: tuple[str, ...] = ()

    def of(self, options: Options) -> Any:
        """The value among these settings. Raises Misuse."""
        given = (options[name] for name in (self.name, *self.alternatives) if name in options)
        return self.read(self.name, next(given, self.default))


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise Misuse(f"{name} is not a number", rule="CLU-004", expected="a number from 0 on", found=repr(text))
    return int(text)


def _positive(name: str, text: str) -> int:
    if not _number(name, text):
        raise Misuse(f"{name} must not be zero", rule="CLU-004", expected="a number from 1 on", found=text)
    return int(text)


def _flag(name: str, text: str) -> bool:
    return boolean_setting({name: text}, name, rule="CLU-004")


def _text(_: str, text: str) -> str:
    return text


def _list(_: str, text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _mode(name: str, text: str) -> str:
    if text not in MODES:
        raise Misuse(f"{name} is unknown", rule="CLU-010", expected=" or ".join(MODES), found=repr(text))
    return text


#: By the field of `ClusteringSettings`.
SETTINGS: Mapping[str, Setting] = {
    "strategy": Setting(f"{_PLAN}class", "", _text, "Which file groups are eligible, and how they are grouped."),
    "execution": Setting("hoodie.clustering.execution.strategy.class",
                         "org.apache.hudi.client.clustering.run.strategy.SparkSortAndSizeExecutionStrategy", _text,
                         "The executor in deployed engines."),
    "small_file_limit": Setting(f"{_PLAN}small.file.limit", str(300 << 20), _number, "Base files of fewer bytes are eligible."),
    "target_size": Setting(f"{_PLAN}target.file.max.bytes", str(1 << 30), _positive, "Bytes of an output."),
    "group_size": Setting(f"{_PLAN}max.bytes.per.group", str(2 << 30), _positive, "Most bytes of a group."),
    "most_groups": Setting(f"{_PLAN}max.num.groups", "30", _positive, "Most groups of a plan."),
    "single": Setting(f"{_PLAN}single.group.clustering.enabled", "true", _flag, "Whether one file group alone is rewritten."),
    "sort_columns": Setting(f"{_PLAN}sort.columns", "", _list, "Columns to sort by."),
    "layout": Setting("hoodie.layout.optimize.strategy", "LINEAR", _text, "The layout of the sort columns."),
    "new_file_size": Setting("hoodie.parquet.max.file.size", str(120 << 20), _positive, "Assumed size of a missing base file."),
    "seed": Setting(f"{_PLAN}random.seed", "0", _number, "Seed of the random strategy."),
    "mode": Setting("hoodie.clustering.plan.partition.filter.mode", "NONE", _mode, "Which partitions are clustered."),
    "recent": Setting(f"{_PLAN}daybased.lookback.partitions", "2", _number, "RECENT_DAYS: the number of partitions; 0: all."),
    "skipped": Setting(f"{_PLAN}daybased.skipfromlatest.partitions", "0", _number, "RECENT_DAYS: newest ones to skip."),
    "begin": Setting(f"{_PLAN}cluster.begin.partition", "", _text, "SELECTED_PARTITIONS: the first one."),
    "end": Setting(f"{_PLAN}cluster.end.partition", "", _text, "SELECTED_PARTITIONS: the last one."),
    "selected": Setting(f"{_PLAN}partition.selected", "", _list, "Only these partitions."),
    "pattern": Setting(f"{_PLAN}partition.regex.pattern", "", _text, "Only partitions that match it as a whole."),
    "inline": Setting("hoodie.clustering.inline", "false", _flag, "Writers plan and execute clusterings.",
                      ("hoodie.datasource.clustering.inline.enable",)),
    "inline_commits": Setting("hoodie.clustering.inline.max.commits", "4", _number, "Commits that make one due, then."),
    "planned_inline": Setting("hoodie.clustering.schedule.inline", "false", _flag, "Writers plan only."),
    "asynchronous": Setting("hoodie.clustering.async.enabled", "false", _flag, "A separate process clusters.",
                            ("hoodie.datasource.clustering.async.enable",)),
    "commits": Setting("hoodie.clustering.async.max.commits", "4", _number, "Commits that make one due, then."),
}  # fmt: skip

#: The names of all settings.
NAMES = frozenset(name for setting in SETTINGS.values() for name in (setting.name, *setting.alternatives))


@dataclass(frozen=True)
class ClusteringSettings:
    """The values of the settings, under the names of `SETTINGS`; sizes in bytes."""

    strategy: str
    execution: str
    small_file_limit: int
    target_size: int
    group_size: int
    most_groups: int
    single: bool
    sort_columns: tuple[str, ...]
    layout: str
    new_file_size: int
    seed: int
    mode: str
    recent: int
    skipped: int
    begin: str
    end: str
    selected: tuple[str, ...]
    pattern: str
    inline: bool
    inline_commits: int
    planned_inline: bool
    asynchronous: bool
    commits: int

    @classmethod
    @implements("CLU-002", "CLU-004", "CLU-010")
    def from_options(cls, options: Options) -> Self:
        """The settings among `options`. Raises Misuse for invalid values."""
        return cls(**{name: setting.of(options) for name, setting in SETTINGS.items()})

    @property
    def commits_needed(self) -> int:
        """The number of commits since the last clustering that makes one due; 0 for an explicit call."""
        inline = self.inline_commits if self.inline else 0
        return max(inline, self.commits if self.asynchronous or self.planned_inline else 0)
