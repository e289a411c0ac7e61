"""The settings of clustering plans, by Hudi's names, as data. Defaults were read from the classes of Apache Hudi 1.0.2.

Strategies that no release has, and the seed of one of them, stand in the draft RFC-19 without a name; their names are ours.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from hudi_reference.errors import Misuse
from hudi_reference.requirement import implements

Options = Mapping[str, str]
MODES = ("NONE", "RECENT_DAYS", "SELECTED_PARTITIONS", "DAY_ROLLING")
_PLAN = "hoodie.clustering.plan.strategy."


@dataclass(frozen=True)
class Setting:
    """One setting: its name and older ones, what holds without it, and how its text is read."""

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
        raise Misuse(f"{name} is no number", rule="CLU-004", expected="a number from 0 on", found=repr(text))
    return int(text)


def _positive(name: str, text: str) -> int:
    if not _number(name, text):
        raise Misuse(f"{name} leaves nothing to do", rule="CLU-004", expected="a number from 1 on", found=text)
    return int(text)


def _flag(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise Misuse(f"{name} is neither on nor off", rule="CLU-004", expected="true or false", found=repr(text))
    return text.lower() == "true"


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
    "strategy": Setting(f"{_PLAN}class", "", _text, "Which file groups, and how they are put together."),
    "execution": Setting("hoodie.clustering.execution.strategy.class",
                         "org.apache.hudi.client.clustering.run.strategy.SparkSortAndSizeExecutionStrategy", _text,
                         "What carries the plan out in deployed engines."),
    "small_file_limit": Setting(f"{_PLAN}small.file.limit", str(300 << 20), _number, "Base files of fewer bytes are eligible."),
    "target_size": Setting(f"{_PLAN}target.file.max.bytes", str(1 << 30), _positive, "Bytes of an output."),
    "group_size": Setting(f"{_PLAN}max.bytes.per.group", str(2 << 30), _positive, "Most bytes of a group."),
    "most_groups": Setting(f"{_PLAN}max.num.groups", "30", _positive, "Most groups of a plan."),
    "single": Setting(f"{_PLAN}single.group.clustering.enabled", "true", _flag, "Whether one file group alone is rewritten."),
    "sort_columns": Setting(f"{_PLAN}sort.columns", "", _list, "Columns to sort by."),
    "layout": Setting("hoodie.layout.optimize.strategy", "LINEAR", _text, "The order that the sort columns make."),
    "new_file_size": Setting("hoodie.parquet.max.file.size", str(120 << 20), _positive, "Reckoned for a missing base file."),
    "seed": Setting(f"{_PLAN}random.seed", "0", _number, "Of the strategy that groups at random."),
    "mode": Setting("hoodie.clustering.plan.partition.filter.mode", "NONE", _mode, "Which partitions."),
    "recent": Setting(f"{_PLAN}daybased.lookback.partitions", "2", _number, "RECENT_DAYS: so many partitions; 0: all."),
    "skipped": Setting(f"{_PLAN}daybased.skipfromlatest.partitions", "0", _number, "RECENT_DAYS: but not the newest ones."),
    "begin": Setting(f"{_PLAN}cluster.begin.partition", "", _text, "SELECTED_PARTITIONS: from here on."),
    "end": Setting(f"{_PLAN}cluster.end.partition", "", _text, "SELECTED_PARTITIONS: up to here."),
    "selected": Setting(f"{_PLAN}partition.selected", "", _list, "No partitions but these."),
    "pattern": Setting(f"{_PLAN}partition.regex.pattern", "", _text, "No partitions but those that match it as a whole."),
    "inline": Setting("hoodie.clustering.inline", "false", _flag, "Writers plan and carry out.",
                      ("hoodie.datasource.clustering.inline.enable",)),
    "inline_commits": Setting("hoodie.clustering.inline.max.commits", "4", _number, "So many commits make one due, then."),
    "planned_inline": Setting("hoodie.clustering.schedule.inline", "false", _flag, "Writers plan only."),
    "asynchronous": Setting("hoodie.clustering.async.enabled", "false", _flag, "A process beside the writers clusters.",
                            ("hoodie.datasource.clustering.async.enable",)),
    "commits": Setting("hoodie.clustering.async.max.commits", "4", _number, "So many commits make one due, then."),
}  # fmt: skip


@dataclass(frozen=True)
class ClusteringSettings:
    """What the settings say, under the names of `SETTINGS`; sizes in bytes."""

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
    def of(cls, options: Options) -> Self:
        """The settings among `options`. Raises Misuse for values that cannot be."""
        return cls(**{name: setting.of(options) for name, setting in SETTINGS.items()})

    @property
    def commits_needed(self) -> int:
        """How many commits since the last clustering make one due; none where somebody asks for it by hand."""
        inline = self.inline_commits if self.inline else 0
        return max(inline, self.commits if self.asynchronous or self.planned_inline else 0)
