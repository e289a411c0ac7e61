"""The timeline of a table of version 6."""

from hudi_reference.errors import UnfinishedMigration
from hudi_reference.layout.properties import META_FOLDER, TableProperties
from hudi_reference.legacy.archived_log import ArchivedLog
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline, oldest_write
from hudi_reference.timeline.instants.instant import parse_instant_name
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.instants.version_6 import legacy_instants, list_legacy_files


@implements("COMPAT-001", "COMPAT-003")
def load_legacy_timeline(storage: Storage, properties: TableProperties) -> Timeline:
    """The timeline as storage has it now. Raises UnfinishedMigration."""
    instants = legacy_instants(list_legacy_files(storage))
    archived = ArchivedLog(storage, properties.history_folder)
    _check_not_half_upgraded(storage, properties, Timeline(instants, archived))
    return Timeline(instants, archived, oldest_write(instants))


@implements("COMPAT-003", "COMPAT-006")
def _check_not_half_upgraded(storage: Storage, properties: TableProperties, timeline: Timeline) -> None:
    """Raises UnfinishedMigration if an interrupted upgrade moved some instants to the folder of version 8 (ER-086)."""
    folder = f"{META_FOLDER}/{properties.get('hoodie.timeline.path')}"
    known = {instant.identity for instant in timeline.instants}
    for name in storage.names(folder):
        moved = parse_instant_name(name)
        if moved is None or moved.state is not State.COMPLETED or moved.identity in known:
            continue
        if moved.identity not in {instant.identity for instant in timeline.history}:
            raise UnfinishedMigration(
                "an instant of version 6 is in the timeline folder of version 8", rule="COMPAT-006", path=f"{folder}/{name}",
                expected=f"every instant in {properties.timeline_folder}",
                remedy="an upgrade was interrupted: finish it with Apache Hudi; until then committed rows are missing",
            )  # fmt: skip
