"""A damaged table in the form of a `Table`, for the page of `hudi-conformance inspect`: what can be read is shown."""

from dataclasses import dataclass, field

from hudi_conformance.validator.stored.scope import Scope
from hudi_conformance.validator.stored.table import StoredTable, load_table
from hudi_reference.clock import SystemClock
from hudi_reference.errors import HudiError
from hudi_reference.ids import RandomIds
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.query.table import Table
from hudi_reference.timeline.active import Timeline


@dataclass(frozen=True)
class DamagedTable(Table):
    """The readable parts of a table that the reference refuses; nothing here raises an error for damage."""

    found: StoredTable = field(kw_only=True)

    @property
    def timeline(self) -> Timeline:
        """The instants, also those whose names violate a rule."""
        return self.found.timeline

    def file_groups(self, as_of: str | None = None) -> FileGroups:
        """The file groups by the part of the timeline that can be read."""
        return self.found.groups


def open_damaged(uri: str, partitions: tuple[str, ...] = ()) -> DamagedTable:
    """The table at `uri`, with the file groups of these partitions, or of all. Raises TableNotFound."""
    found = load_table(uri, scope=Scope(partitions))
    return DamagedTable(found.storage, SystemClock(), RandomIds(), found.properties, uri, found=found)


def error_entry(error: HudiError) -> dict[str, object]:
    """An error in `inspect --json`."""
    return {"error": type(error).__name__, "message": error.message, "rule": error.rule, "path": error.path,
            "offset": error.offset, "expected": error.expected, "found": error.found, "remedy": error.remedy}  # fmt: skip
