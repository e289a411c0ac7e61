"""The inspection of a table by the classes of Hudi: timeline and file slices."""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from hudi_conformance.engines.apache_hudi.jvm.java_bridge import JavaBridge
from hudi_conformance.engines.apache_hudi.jvm.tables import properties_of

Json = dict[str, Any]


def inspect_table(session: JavaBridge, table: str) -> Json:
    """Properties, timeline and file groups."""
    client = session.meta_client(table)
    return {
        "properties": properties_of(session, table),
        "timeline": _timeline(client),
        "file_groups": _file_groups(session, client),
        "metadata_table": _metadata_table(session, client),
    }


def _metadata_table(session: JavaBridge, client: Any) -> Json:
    """The listed metadata partitions, the data files of the usable ones, and the definitions of indexes."""
    config = client.getTableConfig()
    usable = sorted(str(name) for name in config.getMetadataPartitions())
    definitions = client.getIndexMetadata()
    found = dict(definitions.get().getIndexDefinitions()) if definitions.isPresent() else {}
    return {
        "partitions": usable,
        "inflight": sorted(str(name) for name in config.getMetadataPartitionsInflight()),
        "files": {partition: _data_files(session, client, partition) for partition in usable},
        "index_definitions": {str(name): _definition(one) for name, one in found.items()},
    }


def _data_files(session: JavaBridge, client: Any, partition: str) -> list[str]:
    """The names of the data files in the folder of a partition of the metadata table, none if there is no folder."""
    names, storage = session.hudi.common.fs.FSUtils, client.getStorage()
    home = session.hudi.storage.StoragePath(client.getMetaPath(), f"metadata/{partition}")
    paths = [entry.getPath() for entry in storage.listDirectEntries(home)] if storage.exists(home) else []
    return sorted(str(path.getName()) for path in paths if names.isDataFile(path))


def _definition(found: Any) -> Json:
    """One definition of an index."""
    return {
        "type": str(found.getIndexType()),
        "function": str(found.getIndexFunction() or ""),
        "columns": [str(name) for name in found.getSourceFields()],
        "options": {str(name): str(value) for name, value in dict(found.getIndexOptions()).items()},
    }


def _timeline(client: Any) -> Json:
    active = list(client.getActiveTimeline().getInstants())
    archived = [i for i in client.getArchivedTimeline().getInstants() if i.isCompleted()]
    completed = [_completed(i, "archived") for i in archived] + [_completed(i, "active") for i in active if i.isCompleted()]
    return {
        "completed": completed,
        "pending": [
            {"requested": i.requestedTime(), "action": i.getAction(), "state": i.getState().toString()}
            for i in active
            if not i.isCompleted()
        ],
    }


def _completed(instant: Any, where: str) -> Json:
    return {
        "requested": instant.requestedTime(),
        "completion": instant.getCompletionTime(),
        "action": instant.getAction(),
        "where": where,
    }


def _file_groups(session: JavaBridge, client: Any) -> Json:
    """File groups by partition path and file id, from a listing of the folders, without the metadata table."""
    view = view_of(session, client)
    try:
        view.loadAllPartitions()
        compacting = {(p.getValue().getFileId(), p.getKey()) for p in items(view.getPendingCompactionOperations())}
        partitions = {str(group.getPartitionPath()) for group in items(view.fetchAllStoredFileGroups())}
        return {p: _of_partition(_Reader(session, view, p, compacting)) for p in sorted(partitions)}
    finally:
        view.close()


def view_of(session: JavaBridge, client: Any) -> Any:
    """Hudi's file system view of the table, over a listing of the folders; the caller closes it."""
    hudi = session.hudi
    no_metadata_table = hudi.common.config.HoodieMetadataConfig.newBuilder().enable(False).build()
    timeline = client.getActiveTimeline().filterCompletedAndCompactionInstants()
    manager = hudi.common.table.view.FileSystemViewManager
    return manager.createInMemoryFileSystemViewWithTimeline(session.engine_context(), client, no_metadata_table, timeline)


@dataclass(frozen=True)
class _Reader:
    """One partition of a file system view, with the pending compactions of the table as (file id, instant)."""

    session: JavaBridge
    view: Any
    partition: str
    compacting: Set[tuple[str, str]]

    def slice(self, found: Any) -> Json:
        """One file slice; log files in the order in which Hudi merges them."""
        base = found.getBaseFile()
        order = self.session.hudi.common.model.HoodieLogFile.getLogFileComparator()
        slice_: Json = {
            "base_instant": found.getBaseInstantTime(),
            "base_file": base.get().getFileName() if base.isPresent() else None,
            "log_files": [log.getFileName() for log in items(found.getLogFiles().sorted(order))],
        }
        pending = (found.getFileId(), found.getBaseInstantTime()) in self.compacting
        return slice_ | ({"pending_compaction": True} if pending else {})

    def latest(self) -> dict[str, Json]:
        """The slice that a snapshot at the newest instant merges, by file id."""
        newest = self.view.getTimeline().lastInstant()
        if not newest.isPresent():
            return {}
        merged = self.view.getLatestMergedFileSlicesBeforeOrOn(self.partition, newest.get().requestedTime())
        return {str(s.getFileId()): self.slice(s) for s in items(merged)}

    def replaced(self) -> dict[str, tuple[str, Any]]:
        """Replaced file groups by file id, each with the instant that replaced it."""
        found: dict[str, tuple[str, Any]] = {}
        for instant in self.view.getTimeline().getCompletedReplaceTimeline().getInstants():
            time = str(instant.requestedTime())
            for group in items(self.view.getReplacedFileGroupsBeforeOrOn(time, self.partition)):
                found.setdefault(str(group.getFileGroupId().getFileId()), (time, group))
        return found


def _of_partition(reader: _Reader) -> Json:
    """Every file group with a slice that counts, oldest slice first."""
    latest, replaced = reader.latest(), reader.replaced()
    visible = {str(g.getFileGroupId().getFileId()): (None, g) for g in items(reader.view.getAllFileGroups(reader.partition))}
    groups: Json = {}
    for file_id, (instant, group) in sorted((visible | replaced).items()):
        slices = [reader.slice(s) for s in items(group.getAllFileSlices())]
        if slices:
            slices.sort(key=itemgetter("base_instant"))
            groups[file_id] = {"replaced_by": instant, "slices": slices, "latest": latest.get(file_id)}
    return groups


def items(stream: Any) -> Iterator[Any]:
    """The elements of a Java stream."""
    elements = stream.iterator()
    while elements.hasNext():
        yield elements.next()
