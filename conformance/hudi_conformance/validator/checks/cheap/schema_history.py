"""The schema history of a table whose schema was changed by statements, which readers follow to match columns by their ids.

The newest file in `.hoodie/.schema/` has all versions, and commit metadata the version of each write. A writer that finds no
file stores no version, so that the columns that were renamed before are lost to the queries after it.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from hudi_conformance.validator.checks.finding import Check, Finding, Tally, finding_of
from hudi_conformance.validator.stored.opened import repeated_ids
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.schema.avro import META_COLUMNS, parse_schema
from hudi_reference.schema.field_ids import SchemaHistory, Version
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.schema_history import FOLDER, LATEST, read_schema_versions

_FILE = "restore the file from another copy of the table"
_UNMATCHED = "Queries that match columns by their ids fail, or return nulls or the values of another column."


def _saved(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The newest file of a completed action has the version of the last write."""
    carried = [text for commit in table.commits.values() if (text := _version_text(commit))]
    tally.looked("LF-038", at=bool(carried))
    try:
        texts = read_schema_versions(table.storage, table.timeline)
        history = SchemaHistory.parse(texts, FOLDER)
    except HudiError as error:
        meaning = "Queries of files of earlier versions fail, and so does the next write that evolves the schema."
        error.expected = error.expected or "all versions of the schema, as JSON"
        yield finding_of(error, "wrong-answers", meaning, rule="LF-038", path=FOLDER, remedy=_FILE)
        return
    for number, version in history.versions.items():
        if repeated := repeated_ids(version):
            yield Finding("LF-038", "wrong-answers", FOLDER, _UNMATCHED, "an id of its own for each field",
                          f"several fields with the id {repeated[0]} in version {number}", _FILE)  # fmt: skip
    yield from _contradicted(table, texts)
    last = _parsed(carried[-1])[0] if carried else {}
    if last and not last.keys() & history.versions.keys():
        yield Finding(
            "LF-038", "wrong-answers", FOLDER,
            "The next write stores no version of the schema, and later queries no longer find the columns that were renamed.",
            f"a file with version {min(last)}, that of the last write", f"versions {sorted(history.versions) or 'none'}",
            "restore the folder from another copy of the table",
        )  # fmt: skip


def _contradicted(table: StoredTable, folder: Iterable[str]) -> Iterator[Finding]:
    """The folder and the metadata of writes have the same version under one number: readers follow the folder."""
    stored = dict(one for text in folder for one in _records(text))
    for commit in table.commits.values():
        text = _version_text(commit)
        for number, record in _records(text) if text and not _parsed(text)[1] else ():
            if (other := stored.get(number, record)) != record:
                expected, found = _first_difference(record, other)
                yield Finding("LF-038", "wrong-answers", FOLDER, _UNMATCHED,
                              f"{expected} in version {number}, as the metadata of writes has it", found, _FILE)  # fmt: skip
                return


def _records(text: str) -> Iterator[tuple[int, Any]]:
    """The versions in a text that was parsed, by their numbers, without the comments of fields."""
    found = json.loads(text, object_hook=lambda one: {key: value for key, value in one.items() if key != "doc"})
    for version in found.get("schemas", [found]):
        yield int(version["version_id"]), version


def _first_difference(record: Any, other: Any) -> tuple[str, str]:
    """The first field, or else the greatest id, in which two versions differ, in both."""
    pairs = zip_longest(record["fields"], other["fields"])
    one, two = next(((one, two) for one, two in pairs if one != two), (record.get("max_column_id"), other.get("max_column_id")))
    return f"{one}"[:150], f"{two}"[:150]


def _carried(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The version in the metadata of a write gives each field an id of its own, and has the columns of the schema beside it."""
    for instant, commit in table.commits.items():
        text = _version_text(commit)
        if text:
            tally.looked("LF-038")
            found = _fault(text, commit)
            if found:
                yield _contradiction(table, instant, *found)


def _contradiction(table: StoredTable, instant: Instant, expected: str, found: str) -> Finding:
    return Finding("LF-038", "wrong-answers", table.path_of(instant), _UNMATCHED, expected, found, _FILE, key=LATEST)


def _fault(text: str, commit: CommitMetadata) -> tuple[str, str] | None:
    """What a version should have, and what it has instead; None if nothing is wrong."""
    versions, error = _parsed(text)
    if error:
        return "a version of the schema with the ids of its fields", error
    (version,) = versions.values()
    if repeated := repeated_ids(version):
        return "an id of its own for each field", f"several fields with the id {repeated[0]}"
    last, greatest = (
        max((field.id for top in version for field in top.tree()), default=0),
        json.loads(text).get("max_column_id"),
    )
    if isinstance(greatest, int) and last > greatest:
        return f"ids up to max_column_id={last}", f"max_column_id={greatest}"
    names, wanted = _names(version), _columns(commit)
    if wanted is not None and names != wanted:
        return f"the columns of the schema beside it, with {_shown(wanted - names)}", _shown(names - wanted)
    return None


def _parsed(text: str) -> tuple[dict[int, Version], str]:
    """The version in a text, by its number, or why it is none."""
    try:
        return dict(SchemaHistory.parse([text], FOLDER).versions), ""
    except HudiError as error:
        return {}, f"{error.message}: {error.found}"


def _names(version: Version) -> frozenset[str]:
    return frozenset(field.name for field in version).difference(META_COLUMNS)


def _columns(commit: CommitMetadata) -> frozenset[str] | None:
    """The columns of the schema in the metadata; None without one that can be read, which another check reports."""
    try:
        schema: Any = parse_schema(commit.schema, "") if commit.schema else None
    except HudiError:
        return None
    return schema and frozenset(one["name"] for one in schema["fields"]).difference(META_COLUMNS)


def _shown(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "no other"


def _version_text(commit: CommitMetadata) -> str:
    return str((commit.record.get("extraMetadata") or {}).get(LATEST) or "")


CHECKS = (
    Check("schema-history.saved", ("LF-038",), "cheap", _saved),
    Check("schema-history.carried", ("LF-038",), "cheap", _carried),
)
