"""The inspection of the file of an action by the timeline classes of Apache Hudi."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hudi_conformance.engines.apache_hudi.jvm.avro_json import canonical_rows
from hudi_conformance.engines.apache_hudi.jvm.log_drain import frames, java_object
from hudi_conformance.engines.apache_hudi.jvm.session import Session
from hudi_reference.caching import cached_property

Json = dict[str, Any]

_COMMIT, _PLANNED, _COMPACTION = "readCommitMetadataToAvro", "readRequestedReplaceMetadata", "readCompactionPlan"
_WRITE = {"REQUESTED": _COMMIT, "INFLIGHT": _COMMIT, "COMPLETED": _COMMIT}
#: The method of HoodieTimeline for the file of an action in a state. Hudi does not read files without an entry.
_READ: Mapping[str, Mapping[str, str]] = {
    "commit": _WRITE,
    "deltacommit": _WRITE,
    "replacecommit": {"REQUESTED": _PLANNED, "INFLIGHT": _COMMIT, "COMPLETED": "readReplaceCommitMetadataToAvro"},
    "clustering": {"REQUESTED": _PLANNED, "INFLIGHT": _COMMIT},
    "compaction": {"REQUESTED": _COMPACTION},
    "logcompaction": {"REQUESTED": _COMPACTION},
    "clean": {"REQUESTED": "readCleanerPlan", "INFLIGHT": "readCleanerPlan", "COMPLETED": "readCleanMetadata"},
    "rollback": {"REQUESTED": "readRollbackPlan", "COMPLETED": "readRollbackMetadata"},
    "restore": {"REQUESTED": "readRestorePlan", "COMPLETED": "readRestoreMetadata"},
    "savepoint": {"COMPLETED": "readSavepointMetadata"},
    "indexing": {"REQUESTED": "readIndexPlan", "COMPLETED": "HoodieIndexCommitMetadata"},
}
#: Name of a completed action in the history -> the action of its plan.
_PLANNED_AS = {"commit": "compaction", "deltacommit": "logcompaction"}
#: Requested files that Apache Hudi ignores if they are empty, like every inflight file.
_WITHOUT_PLAN = ("commit", "deltacommit", "replacecommit", "clustering")


class Instants:
    """Reads files of instants in a session; one instance for each session."""

    def __init__(self, session: Session, drain: Any, storage: Any) -> None:
        self.session = session
        self.drain = drain
        self.storage = storage

    def inspect(self, path: Any, size: int) -> Json:
        """The action, its state, and the record in its file. Raises the exception of Hudi if it cannot read the file."""
        timeline = self._java.timeline(self.storage, self.storage.getPathInfo(path))
        instant = timeline.firstInstant().get()
        action, state = instant.getAction(), str(instant.getState())
        return {
            "format": "instant",
            "requested": instant.requestedTime(),
            "completion": instant.getCompletionTime(),
            "action": action,
            "state": state,
        } | self._content(self._reader(timeline, action, state, size), instant)

    def archived(self, action: str, state: str, requested: str, content: bytes) -> Any:
        """The record of a completed action (COMPLETED) or of its plan (REQUESTED) in the history."""
        planned = _PLANNED_AS.get(action, action) if state == "REQUESTED" else action
        timeline = self._java.archived(state, planned, requested, content)
        shown = self._content(self._reader(timeline, planned, state, len(content)), timeline.firstInstant().get())
        return shown["content"]

    @cached_property
    def _java(self) -> Any:
        return java_object(self.session, Path(__file__).parent / "OneInstant.java")

    def _reader(self, timeline: Any, action: str, state: str, size: int) -> Callable[[Any], Any] | None:
        """The method that reads the file; None if Hudi does not read it."""
        method = _READ[action].get(state)
        may_be_empty = state == "INFLIGHT" or (state == "REQUESTED" and action in _WITHOUT_PLAN)
        if method is None or (size == 0 and may_be_empty):
            return None
        if method.startswith("read"):
            found: Callable[[Any], Any] = getattr(timeline, method)
            return found
        record = getattr(self.session.hudi.avro.model, method)._java_lang_class
        return lambda instant: timeline.readNonEmptyInstantContent(instant, record)

    def _content(self, read: Callable[[Any], Any] | None, instant: Any) -> Json:
        if read is None:
            return {"record": None, "content": None}
        one = self.session.list_of([read(instant)]).iterator()
        data = bytes(self.drain.records(one))
        (content,) = canonical_rows(self.drain.schema(), frames(data))
        return {"record": json.loads(self.drain.schema())["name"], "content": content}
