"""The entries of files in the metadata of completed writes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hudi_conformance.validator.checks.finding import Finding, Severity
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.caching import cached_property
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.instants.instant import Instant

RESTORE = "restore the file from another copy of the table"
ONLY_STATISTICS = "Only statistics of the write are wrong."
#: How writers store that there is no value.
NOTHING: tuple[Any, ...] = (None, 0, "", "null", [], {})
COMPACTIONS = frozenset({"COMPACT", "LOG_COMPACT"})


@dataclass(frozen=True)
class Entry:
    """The entry of a file in the metadata of a completed write, and the partition below which it is listed."""

    table: StoredTable
    instant: Instant
    commit: CommitMetadata
    partition: str
    stat: dict[str, Any]

    @property
    def path(self) -> str:
        """The path of the file, as the entry has it."""
        return str(self.stat["path"])

    @property
    def text(self) -> str:
        """The name of the file."""
        return self.path.rpartition("/")[2]

    @cached_property
    def name(self) -> BaseFileName | LogFileName | None:
        """The parts of this name; None of a name that is not one of a data file."""
        return self.table.name_of(self.path)

    @property
    def is_base_file(self) -> bool:
        """Whether it is the entry of a base file."""
        return isinstance(self.name, BaseFileName)

    @property
    def is_log_file(self) -> bool:
        """Whether it is the entry of a log file."""
        return isinstance(self.name, LogFileName)

    @property
    def is_new(self) -> bool:
        """Whether it is the first base file of its group. Releases before 1.0 name only the instant of the earlier file."""
        fields = ("prevBaseFile", "prevCommit") if self.table.opened.had_version_6 else ("prevBaseFile",)
        return self.is_base_file and all(self.stat.get(field) in NOTHING for field in fields)

    @property
    def reads_logs(self) -> bool:
        """Whether the write reads log files, or may do so because its operation is not known."""
        return self.commit.operation in (*COMPACTIONS, None, "", "UNKNOWN") or bool(self.commit.record.get("compacted"))

    def named(self, field: str) -> BaseFileName | LogFileName | None:
        """The parts of the name of a data file in a field; None if there is none."""
        text = self.stat.get(field)
        return parse_data_file_name(str(text).rpartition("/")[2]) if text else None

    def finding(self, expected: str, found: object, *, rule: str = "TL-005", severity: Severity = "cosmetic",
                meaning: str = ONLY_STATISTICS) -> Finding:  # fmt: skip
        """A finding in this entry."""
        path = self.table.path_of(self.instant)
        return Finding(rule, severity, path, meaning, expected[:300], str(found)[:300], RESTORE, key=self.path)


def entries_of(table: StoredTable) -> Iterator[Entry]:
    """The entries of files of all completed writes on the active timeline."""
    for instant, commit in table.commits.items():
        for partition, stats in (commit.record.get("partitionToWriteStats") or {}).items():
            for stat in stats or ():
                if stat.get("path"):
                    yield Entry(table, instant, commit, partition, stat)
