"""Names of base files and log files, spec "File Layout Hierarchy", "Base Files", "Log Files".

    base file   <file id>_<write token>_<requested instant>.<extension>
    log file    .<file id>_<requested instant>.log.<version>[_<write token>[.cdc]]
    token       <task partition>-<stage>-<attempt of the task>, three numbers

The write token distinguishes the attempts of one task; it does not define an order. The instant of a log file is that of the
action that wrote it (in tables upgraded from version 6: that of its base file). The version distinguishes log files of one
instant.

Apache Hudi 1.0 searches the pattern of a log file anywhere in a name, and therefore treats checksum files (`..<name>.crc`),
archived timelines (`.commits_.archive.1_1-0-1`) and temporary files as log files. Since 1.1 the whole name must match, as here.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hudi_reference.errors import MalformedFileName
from hudi_reference.requirement import implements

#: Extension of base files -> name of the format in the table properties.
BASE_EXTENSIONS = {"parquet": "PARQUET", "orc": "ORC", "hfile": "HFILE", "lance": "LANCE"}
PARTITION_METAFILE = ".hoodie_partition_metadata"
#: Versions of log files are 32-bit numbers.
GREATEST_VERSION = 2**31 - 1

_BASE = re.compile(r"([^_/]+)_(\d+-\d+-\d+)_(\d+)\.(parquet|orc|hfile|lance)", re.ASCII)
# ER-045: the version counts the files of one write. ER-046: files of change capture end in .cdc.
_LOG = re.compile(r"\.([^_/]+)_(\d+)\.log\.(\d+)(?:_(\d+-\d+-\d+)(\.cdc)?)?", re.ASCII)


@implements("BF-003", "BF-004", "BF-009", "BF-010")
@dataclass(frozen=True)
class BaseFileName:
    """The parts of the name of a base file."""

    file_id: str
    write_token: str
    instant: str
    extension: str = "parquet"

    def __str__(self) -> str:
        return f"{self.file_id}_{self.write_token}_{self.instant}.{self.extension}"


@implements("LF-002", "LF-003", "LF-004", "LF-005", "LF-006")
@dataclass(frozen=True)
class LogFileName:
    """The parts of the name of a log file. `cdc` marks a CDC file, which is not merged; very old files have no write token."""

    file_id: str
    instant: str
    version: int
    write_token: str = ""
    cdc: bool = False

    def __str__(self) -> str:
        token = f"_{self.write_token}" if self.write_token else ""
        return f".{self.file_id}_{self.instant}.log.{self.version}{token}{'.cdc' if self.cdc else ''}"

    @property
    def merge_order(self) -> tuple[str, int, str, bool]:
        """Sort key inside a file slice: instant as text, version as number, token as text (ER-021)."""
        return (self.instant, self.version, self.write_token, self.cdc)


@implements("BF-001", "LAY-019")
def parse_data_file_name(name: str) -> BaseFileName | LogFileName | None:
    """Parse the name of a data file; None for any other file (checksums, partition metadata, foreign files)."""
    if base := _BASE.fullmatch(name):
        return BaseFileName(*base.groups())
    log = _LOG.fullmatch(name)
    if log is None or len(log[3]) > 10 or int(log[3]) > GREATEST_VERSION:
        return None
    file_id, instant, version, token, cdc = log.groups()
    return LogFileName(file_id, instant, int(version), token or "", cdc is not None)


def is_change_file(name: str) -> bool:
    """Whether a file is a CDC file. It is stored next to log files, and plans of release 1.2.0 list it with them, but it is
    not part of a file slice.
    """
    found = parse_data_file_name(name)
    return isinstance(found, LogFileName) and found.cdc


@implements("LF-002")
def require_log_file_name(name: str) -> LogFileName:
    """Parse the name of a log file; raises MalformedFileName for any other name."""
    found = parse_data_file_name(name)
    if not isinstance(found, LogFileName):
        raise _malformed_name(
            name, "log", "LF-002", f".<file id>_<instant>.log.<version up to {GREATEST_VERSION}>_<write token>"
        )
    return found


@implements("BF-003")
def require_base_file_name(name: str) -> BaseFileName:
    """Parse the name of a base file; raises MalformedFileName for any other name."""
    found = parse_data_file_name(name)
    if not isinstance(found, BaseFileName):
        raise _malformed_name(name, "base", "BF-003", f"<file id>_<write token>_<instant>.<{', '.join(BASE_EXTENSIONS)}>")
    return found


def _malformed_name(name: str, kind: str, rule: str, expected: str) -> MalformedFileName:
    message = f"the name is not that of a {kind} file"
    return MalformedFileName(message, rule=rule, path=name, expected=expected, found=_describe_name(name))


def _describe_name(name: str) -> str:
    """A description of a name of another kind, for the error."""
    known = parse_data_file_name(name)
    if known is not None:
        return f"a {'log' if isinstance(known, LogFileName) else 'base'} file's name"
    if "/" in name:
        return "a path, not a name"
    if name.endswith(".crc"):
        return "the checksum file of a data file"
    if ".archive." in name:
        return "an archived timeline of layout 1"
    return repr(name)


@implements("LF-005")
def in_merge_order(names: Iterable[str]) -> list[str]:
    """The names of the log files of one slice in merge order; raises MalformedFileName."""
    return sorted(names, key=lambda name: require_log_file_name(name).merge_order)


def split_path(path: str) -> tuple[str, str]:
    """Partition path and file name of a data file's path below the base path; the partition is "" at the base path."""
    partition, _, name = path.rpartition("/")
    return partition, name


def join_path(partition: str, name: str) -> str:
    """The path below the base path of a file in a partition."""
    return f"{partition}/{name}" if partition else name
