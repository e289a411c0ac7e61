"""What a table of version 6 is loaded by, and what one of version 8."""

from hudi_reference.layout.properties import TableProperties
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.table.archived_log import ArchivedLog
from hudi_reference.timeline.active import Timeline, load_timeline, oldest_write
from hudi_reference.timeline.legacy import legacy_instants, list_legacy_files


@implements("COMPAT-001", "COMPAT-003")
def timeline_of(storage: Storage, properties: TableProperties, known: Timeline | None = None) -> Timeline:
    """The timeline as storage has it now, by the rules of the table's version; `known` is an earlier look at it."""
    if not properties.is_legacy:
        return load_timeline(storage, properties, known)
    instants = legacy_instants(list_legacy_files(storage), properties)
    return Timeline(instants, ArchivedLog(storage, properties.history_folder), oldest_write(instants))
