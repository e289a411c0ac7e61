"""The limits of the active timeline, spec "Archival Configs": the settings as a table, and their values for one table.

Spark and Flink jobs have different names and defaults for the limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from hudi_reference.errors import Misuse
from hudi_reference.requirement import implements
from hudi_reference.services.planning.clean_plan import CleanPolicy
from hudi_reference.settings import boolean_setting, number_setting


@dataclass(frozen=True)
class Setting:
    """One setting: its name, default, and rule; for a number, also the least value."""

    name: str
    default: str
    rule: str
    least: int = 1


#: The settings of Spark jobs.
SPARK: Mapping[str, Setting] = {
    "most": Setting("hoodie.keep.max.commits", "30", "ARC-007"),
    "fewest": Setting("hoodie.keep.min.commits", "20", "ARC-009"),
    "batch size": Setting("hoodie.timeline.compaction.batch.size", "10", "ARC-010", least=2),
    "beyond savepoints": Setting("hoodie.archive.beyond.savepoint", "false", "ARC-003"),
    "automatic": Setting("hoodie.archive.automatic", "true", "ARC-006"),
    "compaction trigger": Setting("hoodie.compact.inline.trigger.strategy", "NUM_COMMITS", "CMP-001"),
    "compacted after": Setting("hoodie.compact.inline.max.delta.commits", "5", "CMP-001"),
}
#: The settings of Flink jobs.
FLINK: Mapping[str, Setting] = {
    **SPARK,
    "most": Setting("archive.max_commits", "50", "ARC-011"),
    "fewest": Setting("archive.min_commits", "40", "ARC-012"),
}
#: Trigger strategies of compaction that count delta commits on the active timeline.
COUNTING_TRIGGERS = ("NUM_COMMITS", "NUM_AND_TIME")


@dataclass(frozen=True)
class ArchiveLimits:
    """The settings of archiving. Archiving begins when more than `most` writes are active, and leaves `fewest` of them.

    `batch_size` files of one level of the history are merged into one. `cleaning` is the policy of the table's cleans;
    `compacted_after` delta commits make a compaction due, None where something else does.
    """

    most: int
    fewest: int
    batch_size: int
    beyond_savepoints: bool
    automatic: bool
    cleaning: CleanPolicy
    compacted_after: int | None

    @classmethod
    @implements("ARC-007", "ARC-009", "ARC-010", "ARC-011", "ARC-012")
    def from_options(cls, options: Mapping[str, str]) -> Self:
        """The limits of these settings; with Flink's names those of a Flink job. Raises Misuse."""
        flink = any(FLINK[key].name in options for key in ("most", "fewest"))
        settings = FLINK if flink else SPARK
        texts = {key: options.get(one.name, one.default) for key, one in settings.items()}
        keys = ["most", "fewest", "batch size"]
        if texts["compaction trigger"] in COUNTING_TRIGGERS:
            keys.append("compacted after")
        chosen = {key: settings[key] for key in keys}
        numbers = {
            key: number_setting(options, one.name, int(one.default), least=one.least, rule=one.rule)
            for key, one in chosen.items()
        }
        flags = {
            key: boolean_setting(options, settings[key].name, default=settings[key].default == "true")
            for key in ("beyond savepoints", "automatic")
        }
        limits = cls(
            most=numbers["most"],
            fewest=numbers["fewest"],
            batch_size=numbers["batch size"],
            beyond_savepoints=flags["beyond savepoints"],
            automatic=flags["automatic"],
            cleaning=CleanPolicy.from_options(options),
            compacted_after=numbers.get("compacted after"),
        )
        limits._check(settings)
        return limits

    @implements("ARC-008")
    def _check(self, settings: Mapping[str, Setting]) -> None:
        if self.fewest >= self.most:
            most, fewest = (settings[key].name for key in ("most", "fewest"))
            raise Misuse(
                "the lower limit of archiving is not below the upper one", rule="ARC-008",
                expected=f"{fewest} < {most}", found=f"{fewest}={self.fewest}, {most}={self.most}",
                remedy="without room between them every write would archive, or none",
            )  # fmt: skip

    def beside_cleaning(self, after_retained: int | None) -> tuple[int, int]:
        """(most, fewest), raised for cleaning: it needs the writes that it retains and two more on the active timeline.

        `after_retained` is the number of writes after the earliest one that a clean retains; None if there is none.
        """
        needed = 0 if after_retained is None else after_retained + 2
        fewest = max(self.fewest, needed)
        return fewest + self.most - self.fewest, fewest
