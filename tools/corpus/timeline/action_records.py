"""Records of actions built by hand: with every field filled, with unknown fields, with fields in another order, from other
releases; with the wrong record, without a record, and with two records.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tools.corpus.avro_bytes import encode_datum
from tools.corpus.case import FileCase
from tools.corpus.timeline.action_files import Json, canonical_value, named_types
from tools.corpus.timeline.avro_containers import (
    add_fields,
    deployed_schema,
    encode_block,
    encode_container,
    encode_header,
    sample_value,
    schema_text,
    sort_fields,
    without_fields,
)

REQUESTED, COMPLETION = "20260101000000000", "20260101000001000"


@dataclass(frozen=True)
class ActionFile:
    """A state of an action that has a record: the name of its file, the case with a deployed file, and the rules."""

    action: str
    state: str
    record: str
    real: str
    rules: Sequence[str]

    @property
    def name(self) -> str:
        """Action and state, as used in names of cases."""
        return f"{self.action}.{self.state}"

    @property
    def file(self) -> str:
        """The name of the file."""
        if self.state == "completed":
            return f"{REQUESTED}_{COMPLETION}.{self.action}"
        return f"{REQUESTED}.inflight" if self.name == "commit.inflight" else f"{REQUESTED}.{self.name}"

    @property
    def empty_counts(self) -> tuple[str, ...]:
        """The erratum, if deployed readers read the empty file as an empty record."""
        writes = ("commit.completed", "deltacommit.completed", "replacecommit.completed")
        return ("ER-098",) if self.name in writes else ()

    def expected_inspection(self, record: str | None, content: Json | None) -> Json:
        """The expected inspection."""
        return {
            "format": "instant",
            "requested": REQUESTED,
            "completion": COMPLETION if self.state == "completed" else None,
            "action": self.action,
            "state": self.state.upper(),
            "record": record,
            "content": content,
        }


def _place(name: str, record: str, *rules: str, real: str | None = None) -> ActionFile:
    action, _, state = name.partition(".")
    return ActionFile(action, state, record, real or name, rules)


PLACES = (
    _place("commit.inflight", "HoodieCommitMetadata", "TL-007"),
    _place("commit.completed", "HoodieCommitMetadata", "TL-007"),
    _place("deltacommit.completed", "HoodieCommitMetadata", "TL-009"),
    _place("replacecommit.requested", "HoodieRequestedReplaceMetadata", "TL-012"),
    _place("replacecommit.completed", "HoodieReplaceCommitMetadata", "TL-012"),
    _place("clustering.requested", "HoodieRequestedReplaceMetadata", "TL-012", "TL-040"),
    _place("compaction.requested", "HoodieCompactionPlan", "TL-015"),
    _place("logcompaction.requested", "HoodieCompactionPlan", "TL-017", "TL-016"),
    _place("clean.requested", "HoodieCleanerPlan", "TL-014"),
    _place("clean.completed", "HoodieCleanMetadata", "TL-014"),
    _place("rollback.requested", "HoodieRollbackPlan", "TL-020"),
    _place("rollback.completed", "HoodieRollbackMetadata", "TL-020"),
    _place("restore.requested", "HoodieRestorePlan", "TL-024"),
    _place("restore.completed", "HoodieRestoreMetadata", "TL-024"),
    _place("savepoint.completed", "HoodieSavepointMetadata", "TL-022"),
    _place("indexing.requested", "HoodieIndexPlan", "TL-018"),
    _place("indexing.completed", "HoodieIndexCommitMetadata", "TL-018"),
)
BY_NAME = {place.name: place for place in PLACES}
#: Fields that a reader does not know: a text, a number, a record.
UNKNOWN = (
    {"name": "ofALaterRelease", "type": ["null", "string"], "default": None},
    {"name": "number", "type": "long", "default": 0},
    {"name": "part", "type": {"type": "record", "name": "PartOfALaterRelease", "fields": [{"name": "n", "type": "int"}]}},
)
STRANGE = {"ofALaterRelease": "?", "number": 7, "part": {"n": 1}}


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    for place in PLACES:
        yield from _of(place)
    yield from _empty()
    yield from _of_another_action()
    yield from _of_other_releases()
    yield from _as_json()


def action_case(place: ActionFile, name: str, says: str, content: bytes, shows: Json | None, **more: Any) -> FileCase:
    """One file; it must be refused if there is no inspection."""
    refused: Json = {"error": "not the record of the action in this state", "verdict": "must-refuse"}
    right: Json = refused if shows is None else {"inspect": shows, "verdict": "valid"}
    return FileCase(
        area="actions",
        name=f"{place.name}.{name}",
        requirements=("TL-002", *place.rules),
        says=says,
        if_it_fails=more.pop(
            "if_it_fails",
            "Decode the record with the schema in the file, and accept only the record name of this action and state.",
        ),
        needs=("inspect.instant",),
        flags=("silent-stale",),
        file=place.file,
        content=content,
        **right,
        **more,
    )


def filled_record(schema: Any) -> tuple[Json, Json]:
    """A record with a value in every field, and its canonical form."""
    value = sample_value(schema)
    return value, canonical_value(value, schema, named_types(schema))


def _of(place: ActionFile) -> Iterator[FileCase]:
    """The complete record; with fields of a later release; with another order of fields."""
    schema = deployed_schema(place.real)
    value, content = filled_record(schema)
    shows = place.expected_inspection(place.record, content)
    yield action_case(
        place,
        "every-field",
        "A record with a value in every field is shown with all of them.",
        encode_container(schema, value),
        shows,
    )
    later = add_fields(schema, *UNKNOWN)
    yield action_case(
        place, "further-fields", "Fields that a later release has added are ignored.",
        encode_container(later, value | STRANGE), shows,
    )  # fmt: skip
    yield action_case(
        place, "other-order", "Fields are decoded in the order of the schema in the file, whatever order other releases use.",
        encode_container(sort_fields(schema), value), shows,
    )  # fmt: skip


def _empty() -> Iterator[FileCase]:
    """Empty files in states that need a record."""
    for place in PLACES:
        if place.name not in ("commit.inflight", "replacecommit.requested", "clustering.requested"):
            yield action_case(
                place, "empty", f"An empty file is refused, because it has no {place.record}.", b"", None,
                if_it_fails="A reader that treats an empty file as an empty record loses the content of the action.",
                errata=place.empty_counts,
            )  # fmt: skip


def _of_another_action() -> Iterator[FileCase]:
    """A complete record of another action."""
    for name, other in (
        ("commit.completed", "replacecommit.completed"),
        ("replacecommit.requested", "commit.inflight"),
        ("replacecommit.completed", "commit.completed"),
        ("clustering.requested", "compaction.requested"),
        ("compaction.requested", "commit.completed"),
        ("logcompaction.requested", "clustering.requested"),
        ("clean.requested", "clean.completed"),
        ("clean.completed", "clean.requested"),
        ("rollback.requested", "restore.requested"),
        ("rollback.completed", "rollback.requested"),
        ("restore.requested", "rollback.requested"),
        ("restore.completed", "rollback.completed"),
        ("savepoint.completed", "clean.completed"),
        ("indexing.requested", "indexing.completed"),
        ("indexing.completed", "indexing.requested"),
    ):
        schema = deployed_schema(other)
        record = BY_NAME[other].record
        yield action_case(
            BY_NAME[name], f"holds-a-{_dashed(record)}", f"A {record} in place of the right record is refused.",
            encode_container(schema, sample_value(schema)), None, errata=("ER-099",),
        )  # fmt: skip
    plan = BY_NAME["compaction.requested"]
    names = b"f1_0-1-2_20250101000000000.parquet\n.f1_20250102000000000.log.1_0-1-2\n"
    yield action_case(plan, "file-names-as-text", "A list of file names is refused as a compaction plan.", names, None)


def _dashed(record: str) -> str:
    """HoodieCleanerPlan as cleaner-plan."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in record.removeprefix("Hoodie")).strip("-")


def _of_other_releases() -> Iterator[FileCase]:
    """Records of releases before and after 1.0.2."""
    for name, missing in (
        ("clean.requested", ("lastCompletedCommitTimestamp", "extraMetadata")),
        ("clean.completed", ("lastCompletedCommitTimestamp", "bootstrapPartitionMetadata", "extraMetadata")),
        ("restore.requested", ("savepointToRestoreTimestamp", "version")),
        ("rollback.completed", ("instantsRollback",)),
        ("compaction.requested", ("strategy", "preserveHoodieMetadata", "missingSchedulePartitions")),
        ("commit.completed", ("operationType",)),
    ):
        place, schema = BY_NAME[name], without_fields(deployed_schema(name), *missing)
        value, content = filled_record(schema)
        yield action_case(
            place, "of-an-older-release", f"A file of an older release, without {', '.join(missing)}, is read.",
            encode_container(schema, value), place.expected_inspection(place.record, content),
        )  # fmt: skip
    for place in (BY_NAME["compaction.requested"], BY_NAME["clean.requested"], BY_NAME["restore.requested"]):
        schema = deployed_schema(place.real)
        value, content = filled_record(schema)
        yield action_case(
            place, "of-a-later-version", "A plan of version 99 is shown unchanged or refused.",
            encode_container(schema, value | {"version": 99}),
            place.expected_inspection(place.record, content | {"version": 99}), or_error=True,
        )  # fmt: skip
    clean = BY_NAME["clean.completed"]
    schema = deployed_schema("clean.completed")
    first = {**schema, "fields": [{"name": "policy", "type": "string"}, *schema["fields"]]}
    value, content = filled_record(schema)
    yield action_case(
        clean, "with-a-policy-first", ("An additional first field, as some snapshots of the schema have it, does not shift "
                                       "the other fields."),
        encode_container(first, value | {"policy": "KEEP_LATEST_COMMITS"}), clean.expected_inspection(clean.record, content),
    )  # fmt: skip
    yield from _compressed(clean, schema, value, clean.expected_inspection(clean.record, content))


def _compressed(place: ActionFile, schema: Any, value: Json, shows: Json) -> Iterator[FileCase]:
    """Forms that containers allow and deployed writers do not produce."""
    for codec in ("null", "deflate"):
        yield action_case(
            place, f"codec-{codec}", f"A container with the codec {codec} is read.",
            encode_container(schema, value, codec=codec), shows,
            or_error=codec != "null",
        )  # fmt: skip
    more = encode_header({"written.by": b"somebody else", "avro.schema": schema_text(schema)}) + encode_block(
        encode_datum(schema, value)
    )
    yield action_case(place, "further-metadata", "Unknown entries of the container are ignored.", more, shows)
    datum_ = encode_datum(schema, value)
    odd = encode_header({"avro.schema": schema_text(schema)}) + encode_block() + encode_block(datum_) + encode_block()
    yield action_case(
        place,
        "empty-blocks",
        "A container may have empty blocks before and after the block with the record.",
        odd,
        shows,
        or_error=True,
    )


def _as_json() -> Iterator[FileCase]:
    """Pending files after an upgrade from version 6: commit metadata as JSON, without the fields that do not apply."""
    said = b"""{
  "partitionToWriteStats" : {
    "n" : [ { "fileId" : "", "path" : null, "prevCommit" : "null", "numInserts" : 2, "numWrites" : 0 } ]
  },
  "compacted" : false,
  "extraMetadata" : { },
  "operationType" : "INSERT_OVERWRITE"
}"""
    content = {
        "partitionToWriteStats": {
            "n": [{"fileId": "", "path": None, "prevCommit": "null", "numInserts": "2", "numWrites": "0"}]
        },
        "compacted": False,
        "operationType": "INSERT_OVERWRITE",
    }
    for name, action in (("clustering.inflight", "clustering"), ("replacecommit.inflight", "replacecommit")):
        place = ActionFile(action, "inflight", "HoodieCommitMetadata", name, ("COMPAT-003",))
        yield action_case(
            place, "json-of-an-upgrade", ("The inflight file of a replacecommit or clustering in an upgraded table may "
                                          "contain JSON."), said,
            place.expected_inspection("HoodieCommitMetadata", content), or_error=True,
        )  # fmt: skip
    place = BY_NAME["commit.completed"]
    yield action_case(place, "json", "A completed commit with JSON is refused in version 8.", said, None)
