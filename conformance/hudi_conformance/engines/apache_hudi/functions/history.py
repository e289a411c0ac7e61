"""The inspection of one file of the timeline history by the classes of Apache Hudi.

Level files through the reader that ArchivedTimelineLoader uses, what they keep of an action through HoodieTimeline; manifests
through LSMTimeline.
"""

import re
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hudi_conformance.contract import EngineError
from hudi_conformance.engines.apache_hudi.functions.instants import Instants
from hudi_conformance.engines.apache_hudi.jvm.avro_json import canonical_rows
from hudi_conformance.engines.apache_hudi.jvm.log_drain import frames
from hudi_conformance.engines.apache_hudi.jvm.session import Session
from hudi_reference.caching import cached_property

Json = dict[str, Any]

_MANIFEST = re.compile(r"manifest_(\d+)")
_LEVEL_FILE = re.compile(r"\d+_\d+_\d+\.parquet")


def is_history_file(name: str) -> bool:
    """Whether a name is that of a manifest or of a level file."""
    return bool(_MANIFEST.fullmatch(name) or _LEVEL_FILE.fullmatch(name))


class History:
    """Reads files of the history in a session; one instance for each session."""

    def __init__(self, session: Session, instants: Instants) -> None:
        self.session = session
        self.instants = instants
        self.timeline = session.hudi.common.table.timeline.LSMTimeline

    def inspect(self, path: Any) -> Json:
        """A manifest or a level file. Raises the exception of Hudi if it cannot read the file."""
        manifest = _MANIFEST.fullmatch(path.getName())
        return self._level_file(path) if manifest is None else self._manifest(path, int(manifest[1]))

    def _manifest(self, path: Any, number: int) -> Json:
        found = self.timeline.latestSnapshotManifest(self._any_table, number, path.getParent()).getFiles()
        return {
            "format": "manifest",
            "files": [{"name": _there(entry.getFileName()), "length": str(entry.getFileLen())} for entry in found],
        }

    @cached_property
    def _any_table(self) -> Any:
        """A new empty table, for LSMTimeline, which uses only its storage."""
        builder = self.session.hudi.common.table.HoodieTableMetaClient.newTableBuilder()
        properties = {"hoodie.table.name": "none", "hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.version": "8"}
        folder = Path(mkdtemp(prefix="hudi-conformance-")).as_uri()
        return builder.fromProperties(self.session.properties(properties)).initTable(self.session.storage, folder)

    def _level_file(self, path: Any) -> Json:
        name = path.getName()
        return {
            "format": "history-file",
            "minimum": self.timeline.getMinInstantTime(name),
            "maximum": self.timeline.getMaxInstantTime(name),
            "level": self.timeline.getFileLayer(name),
            "instants": [self._action(row) for row in self._rows(path)],
        }

    def _rows(self, path: Any) -> list[Json]:
        hudi, drain = self.session.hudi, self.instants.drain
        avro = getattr(self.session.jvm, "org.apache.hudi.common.model.HoodieRecord$HoodieRecordType").AVRO
        factory = hudi.io.storage.HoodieIOFactory.getIOFactory(self.instants.storage).getReaderFactory(avro)
        schema = hudi.avro.model.HoodieLSMTimelineInstant.getClassSchema()
        if self.session.has_schema_class:
            schema = hudi.common.schema.HoodieSchema.fromAvroSchema(schema)
        reader = factory.getFileReader(hudi.common.config.HoodieConfig(), path)
        try:
            data = bytes(drain.records(reader.getRecordIterator(schema, schema)))
        finally:
            reader.close()
        return canonical_rows(drain.schema(), frames(data)) if data else []

    def _action(self, row: Json) -> Json:
        action, requested = _there(row["action"]), _there(row["instantTime"])
        return {
            "requested": requested,
            "completion": row["completionTime"],
            "action": action,
            "metadata": self._content(action, "COMPLETED", requested, row["metadata"]),
            "plan": self._content(action, "REQUESTED", requested, row["plan"]),
            "version": row["version"],
        }

    def _content(self, action: str, state: str, requested: str, kept: str | None) -> Any:
        return None if kept is None else self.instants.archived(action, state, requested, bytes.fromhex(kept))


def _there(value: Any) -> str:
    """The value. Raises for null, as Hudi does when it calls a method on it."""
    if value is None:
        raise EngineError("NullPointerException: a name, time or action of the history is null")
    return str(value)
