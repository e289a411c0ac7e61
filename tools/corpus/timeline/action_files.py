"""Files of actions that Apache Hudi wrote, one for each action in each of its states. The bytes are frozen: they were taken
from golden tables. The expected content is decoded from the bytes by fastavro, with the schema in the file.

    python -m tools.corpus.timeline.action_files      copies missing files from the golden tables
"""

import io
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
from tools.corpus.case import FileCase

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
Json = dict[str, Any]


@dataclass(frozen=True)
class CopiedFile:
    """A file of a golden table: the first file of `table` whose name ends with `extension`.

    `beside` is the extension of another file of the same action, which distinguishes a compaction from a commit.
    """

    name: str
    table: str
    extension: str
    says: str
    requirements: Sequence[str]
    beside: str | None = None
    errata: Sequence[str] = ()

    def place(self) -> Path:
        """The folder of its bytes."""
        return FIXTURES / "actions" / self.name / "bytes"

    def source(self) -> Path:
        """The file in the golden table."""
        timeline = FIXTURES / self.table / "table/.hoodie/timeline"
        found = sorted(path for path in timeline.iterdir() if path.name.partition(".")[2] == self.extension)
        return next(p for p in found if self.beside is None or (timeline / f"{p.name[:17]}.{self.beside}").exists())


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    for one in TAKEN:
        (path,) = one.place().iterdir()
        yield FileCase(
            area="actions",
            name=one.name,
            requirements=("TL-002", *one.requirements),
            says=one.says,
            if_it_fails=(
                "docs/timeline.md lists the contents; decode the file with the schema in the file, not with your own."
            ),
            needs=("inspect.instant",),
            flags=("silent-stale",),
            errata=one.errata,
            producer={"engine": "apache-hudi", "version": "1.0.2", "note": f"from the golden table {one.table}"},
            file=path.name,
            content=None,
            verdict="valid",
            inspect=expected_inspection(path.name, path.read_bytes()),
            derived_by=("fastavro, under the schema in the file",),
        )


def expected_inspection(name: str, data: bytes) -> Json:
    """The expected inspection of the file with this name."""
    times, _, extension = name.partition(".")
    requested, _, completion = times.partition("_")
    word, _, state = ("commit.inflight" if extension == "inflight" else extension).partition(".")
    record, content = decode_record(data) if data else (None, None)
    return {
        "format": "instant",
        "requested": requested,
        "completion": completion or None,
        "action": word,
        "state": state.upper() or "COMPLETED",
        "record": record,
        "content": content,
    }


def decode_record(data: bytes) -> tuple[str, Json]:
    """The name of the record and its canonical fields."""
    reader = fastavro.reader(io.BytesIO(data))
    (record,) = reader
    schema = json.loads(reader.metadata["avro.schema"])
    return schema["name"], canonical_value(record, schema, named_types(schema))


def named_types(schema: Any) -> dict[str, Any]:
    """The records inside a schema by name, because a schema may refer to them again."""
    if isinstance(schema, list):
        parts: list[Any] = schema
    elif isinstance(schema, dict):
        inner = [field["type"] for field in schema.get("fields", ())]
        parts = [*inner, *(schema[key] for key in ("items", "values") if key in schema)]
    else:
        return {}
    own = {schema["name"]: schema} if isinstance(schema, dict) and schema["type"] == "record" else {}
    return own | {name: found for part in parts for name, found in named_types(part).items()}


def canonical_value(value: Any, schema: Any, named: Mapping[str, Any]) -> Any:
    """A value in canonical form: long and double as text, all others as in JSON. The unions of these records have one type
    in addition to null."""
    if value is None:
        return None
    if isinstance(schema, list):
        schema = next(branch for branch in schema if branch != "null")
    if isinstance(schema, str) and schema in named:
        schema = named[schema]
    kind = schema if isinstance(schema, str) else schema["type"]
    if kind == "record":
        return {field["name"]: canonical_value(value[field["name"]], field["type"], named) for field in schema["fields"]}
    if kind == "array":
        return [canonical_value(item, schema["items"], named) for item in value]
    if kind == "map":
        return {key: canonical_value(item, schema["values"], named) for key, item in value.items()}
    return str(value) if kind == "long" else repr(value) if kind == "double" else value


def _states(
    action: str, table: str, rules: Sequence[str], says: Mapping[str, str], errata: Sequence[str] = ()
) -> Iterator[CopiedFile]:
    """The files of one action by state: extension and content."""
    for state, text in says.items():
        extension = action if state == "completed" else f"{action}.{state}"
        yield CopiedFile(f"{action}.{state}", table, "inflight" if extension == "commit.inflight" else extension, text, rules,
                    errata=errata)  # fmt: skip


_NO_PLAN = "A write has no plan: its requested file is empty."
_PROFILE = "The inflight file of a write has HoodieCommitMetadata with the planned writes."
_STARTED = "The inflight file is empty and states only that the work has begun."

TAKEN = (
    *_states("commit", "timeline/clean.cow", ("TL-007",), {
        "requested": _NO_PLAN, "inflight": _PROFILE, "completed": "A commit completes with HoodieCommitMetadata.",
    }),
    *_states("deltacommit", "timeline/clean.mor", ("TL-009",), {
        "requested": _NO_PLAN, "inflight": _PROFILE, "completed": "A deltacommit completes with HoodieCommitMetadata.",
    }),
    *_states("replacecommit", "timeline/insert-overwrite.merge-on-read", ("TL-012",), {
        "requested": "The requested file of an insert overwrite has no plan: every field of its record is null.",
        "inflight": _PROFILE,
        "completed": "A replacecommit completes with HoodieReplaceCommitMetadata, which names the replaced file groups.",
    }),
    CopiedFile("replacecommit.of-a-deleted-partition", "timeline/delete-partition", "replacecommit",
          "The deletion of a partition completes as a replacecommit without new files.", ("TL-012",)),
    *_states("clustering", "timeline/clustering.completed", ("TL-012", "TL-040"), {
        "requested": "A requested clustering has a plan: its groups of file slices and the strategy.", "inflight": _STARTED,
    }, errata=("ER-003",)),
    CopiedFile("replacecommit.of-a-clustering", "timeline/clustering.completed", "replacecommit",
          "A clustering completes as a replacecommit.", ("TL-012",), beside="clustering.requested"),
    *_states("compaction", "timeline/compaction.completed-then-log", ("TL-015",), {
        "requested": "A requested compaction has a plan, which has file names without folders.", "inflight": _STARTED,
    }, errata=("ER-004",)),
    CopiedFile("commit.of-a-compaction", "timeline/compaction.completed-then-log", "commit",
          "A compaction completes as a commit, with HoodieCommitMetadata.", ("TL-007", "TL-015"),
          beside="compaction.requested", errata=("ER-004",)),
    *_states("logcompaction", "log/log-compaction", ("TL-016", "TL-017"), {
        "requested": "A requested log compaction has a compaction plan that names its strategy.", "inflight": _STARTED,
    }, errata=("ER-006",)),
    CopiedFile("deltacommit.of-a-log-compaction", "log/log-compaction", "deltacommit",
          "A log compaction completes as a deltacommit.", ("TL-009", "TL-017"), beside="logcompaction.requested",
          errata=("ER-006",)),
    *_states("clean", "timeline/clean.mor", ("TL-014",), {
        "requested": "A requested clean has a plan: the files to delete and what is retained.",
        "inflight": "The inflight file of a clean repeats its plan.",
        "completed": "A clean completes with HoodieCleanMetadata, which names the deleted files.",
    }),
    *_states("rollback", "timeline/rollback.cow", ("TL-020",), {
        "requested": "A requested rollback has a plan: the instant to roll back and the files to delete.", "inflight": _STARTED,
        "completed": "A rollback completes with HoodieRollbackMetadata, which names the instant that was rolled back.",
    }),
    *_states("restore", "timeline/restore.mor", ("TL-024",), {
        "requested": ("A requested restore has a plan, although a default in its schema does not match the type of its "
                      "field."), "inflight": _STARTED,
        "completed": ("A restore completes with HoodieRestoreMetadata, although a default in its schema does not match the "
                      "type of its field."),
    }),
    *_states("savepoint", "timeline/savepoint", ("TL-022",), {
        "inflight": "A savepoint begins with an empty inflight file.",
        "completed": "A savepoint completes with HoodieSavepointMetadata, which names the protected files.",
    }),
    *_states("indexing", "timeline/states.indexing.completed.mor", ("TL-018",), {
        "requested": ("A requested indexing action has a plan: the partition of the metadata table and the last instant to "
                      "index."),
        "inflight": _STARTED, "completed": "An indexing action completes with HoodieIndexCommitMetadata.",
    }),
)  # fmt: skip


def copy_files() -> None:
    """Copy the missing files."""
    for one in TAKEN:
        if not one.place().exists():
            one.place().mkdir(parents=True)
            shutil.copyfile(one.source(), one.place() / one.source().name)
            print(one.place())


if __name__ == "__main__":
    copy_files()
