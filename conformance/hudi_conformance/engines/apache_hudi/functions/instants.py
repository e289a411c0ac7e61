"""The file of an action in one state as Apache Hudi's own timeline reads it, in the contract's shape."""

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from hudi_conformance.engines.apache_hudi.jvm.avro_json import canonical_rows
from hudi_conformance.engines.apache_hudi.jvm.log_drain import frames, java_object
from hudi_conformance.engines.apache_hudi.jvm.session import Session

Json = dict[str, Any]

_COMMIT, _PLANNED, _COMPACTION = "readCommitMetadataToAvro", "readRequestedReplaceMetadata", "readCompactionPlan"
_WRITE = {"REQUESTED": _COMMIT, "INFLIGHT": _COMMIT, "COMPLETED": _COMMIT}
#: How HoodieTimeline reads the file of an action in a state. It never looks into the files that are missing here.
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
#: The actions that plans in the history are of, by the names under which these complete.
_PLANNED_AS = {"commit": "compaction", "deltacommit": "logcompaction"}
#: Requested files that Apache Hudi passes over where they are empty, as it does every inflight file.
_WITHOUT_PLAN = ("commit", "deltacommit", "replacecommit", "clustering")


class Instants:
    """Reads files of instants in a session; made once for it."""

    def __init__(self, session: Session, drain: Any, storage: Any) -> None:
        self.session = session
        self.drain = drain
        self.storage = storage

    def inspect(self, path: Any, size: int) -> Json:
        """The action, its state, and what its file says of it. Raises what Hudi throws where it cannot read the file."""
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
        """What the content of a completed action (COMPLETED) or its plan (REQUESTED) says, as the history keeps it."""
        planned = _PLANNED_AS.get(action, action) if state == "REQUESTED" else action
        timeline = self._java.archived(state, planned, requested, content)
        shown = self._content(self._reader(timeline, planned, state, len(content)), timeline.firstInstant().get())
        return shown["content"]

    @cached_property
    def _java(self) -> Any:
        return java_object(self.session, Path(__file__).parent / "OneInstant.java")

    def _reader(self, timeline: Any, action: str, state: str, size: int) -> Callable[[Any], Any] | None:
        """What reads the file; None where Hudi does not look into it."""
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
