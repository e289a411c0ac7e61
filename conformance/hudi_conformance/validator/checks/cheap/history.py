"""The archived actions: manifest, level files, their names and rows, and the border to the active timeline."""

from collections import Counter
from collections.abc import Iterator, Sequence

from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally, finding_of
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.legacy.archived_log import archived_log_files
from hudi_reference.timeline.contents.metadata import SERVICES, commit_metadata_of
from hudi_reference.timeline.history.archived import metadata_of, plan_of
from hudi_reference.timeline.history.history import ArchivedAction, opened_level_file, read_level_file
from hudi_reference.timeline.history.manifest import (
    VERSION_FILE,
    LevelFile,
    read_manifest,
)
from hudi_reference.timeline.instants.states import ACTIONS, COMMITS

RESTORE = "restore the folder of the history from another copy of the table"
_LOST = "Readers take files of archived writes for uncommitted, or fail; times and changes of these writes are unknown."


def _readable(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Manifest and level files are there, have the listed length, and can be read."""
    history = table.history
    if history.manifest is not None:
        tally.looked("LSM-010", at=bool(history.manifest.number))
        tally.looked("LSM-011", "LSM-003", at=len(history.manifest.files))
    for error in history.errors:
        yield finding_of(error, "wrong-answers", _LOST, rule="LSM-010", path=history.folder, remedy=RESTORE)
    if table.properties.is_legacy:
        yield from _cut_archives(table, tally)


def _cut_archives(table: StoredTable, tally: Tally) -> Iterator[Finding]:
    """COMPAT-003: each file in the archive of version 6 has a block, and the last one is whole.

    A reader of the archive ignores an incomplete block at the end of a file: the append of a crashed writer, whose actions are
    still active. A file that was cut later looks the same, and its actions are nowhere else.
    """
    tally.looked("COMPAT-003", at=len(archived_log_files(table.storage, table.history.folder)))
    for path, (offset, found) in table.history.cut.items():
        yield Finding(
            "COMPAT-003", "cosmetic", path,
            "No query of version 6 reads the archive; an upgrade leaves the actions of this block out.",
            "a whole block", found, "if its actions are not on the active timeline, restore the file from another "
            "copy of the table before an upgrade", offset=offset,
        )  # fmt: skip


def _version_file(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The version file is there. An interrupted update leaves none, and then the greatest manifest counts."""
    history = table.history
    if history.manifest is None or not history.manifest.number:
        return
    tally.looked("LSM-007")
    path = f"{history.folder}/{VERSION_FILE}"
    if path not in table.listing.files or not table.listing.files[path].size:
        yield Finding("LSM-007", "cosmetic", path, "The manifest with the greatest number counts.",
                      str(history.manifest.number), "no number", "the next archiving writes the file")  # fmt: skip


def _later_manifests(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LSM-007: the version file has the number of the manifest that counts.

    An archiver writes the manifest, then the version file, and then removes the actions from the active timeline. So a later
    manifest has no action that is neither active nor in the manifest that counts.
    """
    history = table.history
    if table.properties.is_legacy or history.manifest is None or not history.manifest.number:
        return
    known = {one.identity for one in (*table.timeline.instants, *history.instants)}
    listed = {file.name for file in history.manifest.files}
    later = [number for _, number in table.known_actions.manifests() if number > history.manifest.number]
    for number in sorted(later):
        tally.looked("LSM-007")
        try:
            files = [file for file in read_manifest(table.storage, history.folder, number).files if file.name not in listed]
            actions = [one for file in files for one in read_level_file(table.storage, history.folder, file, ())]
        except (HudiError, FileNotFoundError):
            continue  # readers do not need it
        if lost := sorted({one.instant.file_name for one in actions if one.instant.identity not in known}):
            yield Finding(
                "LSM-007", "wrong-answers", f"{history.folder}/{VERSION_FILE}", _LOST,
                f"{number} or later: manifest_{number} has actions that are archived", f"{history.manifest.number}, without "
                f"{lost[0]}" + (f" and {len(lost) - 1} more actions" if len(lost) > 1 else ""),
                f"write {max(later)} into {VERSION_FILE}", key=str(number),
            )  # fmt: skip


def _unlisted(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LSM-010, LSM-012: a level file that the manifest does not list has no action that is needed.

    Readers with an older manifest may still need those that it lists. `_later_manifests` reports those of later manifests.
    """
    history = table.history
    if table.properties.is_legacy or history.manifest is None:
        return
    listed, later = table.known_actions.listed_from(0), table.known_actions.listed_from(history.manifest.number + 1)
    lost_with = table.known_actions.archived_without_entry
    for file in history.unlisted:
        path = f"{history.folder}/{file.name}"
        tally.looked("LSM-010", "LSM-012")
        lost = () if file.name in later else lost_with.get(file, ())
        if lost:
            yield Finding("LSM-010", "wrong-answers", path, _LOST, f"a manifest that lists the file of {lost[0].file_name}",
                          f"no such entry in manifest_{history.manifest.number}", RESTORE)  # fmt: skip
        elif file.name not in listed:
            yield Finding("LSM-012", "lost-space", path, "No reader reads the file.", "a file that a manifest lists",
                          f"{file.length} bytes of an archiver that crashed", "delete the file; its actions are still active, "
                          "or in another file")  # fmt: skip


def _file_names(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The name of a level file has the smallest and the largest requested time of its actions.

    Readers look an action up by these names. ER-083: a name with minimum above maximum is searched for any action. The maximum
    may also be the largest completion time.
    """
    missed = "Readers that look up one of its actions do not open the file, and take the action for uncommitted."
    opened = "Readers open the file for times of which it has no action."
    for file, actions in table.history.actions.items():
        times = [action.instant.requested for action in actions]
        tally.looked("LSM-014", "LSM-015")
        if not times or file.minimum > file.maximum:
            continue
        last = max((*times, *(action.instant.completion or "" for action in actions)))
        for rule, expected, is_missed, is_right in (
            ("LSM-014", f"a name that begins with {min(times)}", min(times) < file.minimum, min(times) == file.minimum),
            ("LSM-015", f"a maximum of {max(times)} to {last}", max(times) > file.maximum, max(times) <= file.maximum <= last),
        ):
            if not is_right:
                severity: Severity = "wrong-answers" if is_missed else "cosmetic"
                path, meaning = f"{table.history.folder}/{file.name}", missed if is_missed else opened
                yield Finding(rule, severity, path, meaning, expected, file.name, RESTORE)


def _contents(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Metadata and plan of archived actions can be decoded."""
    for file, actions in table.history.actions.items():
        path = f"{table.history.folder}/{file.name}"
        for action in actions:
            tally.looked("LSM-020", at=action.metadata is not None)
            tally.looked("LSM-021", at=action.plan is not None)
            for rule, decode in (("LSM-020", metadata_of), ("LSM-021", plan_of)):
                if rule == "LSM-021" and file.minimum > file.maximum:
                    continue  # ER-083: an upgrade from version 6 stores plans without their schema
                try:
                    decode(action, path)
                except HudiError as error:
                    yield Finding(
                        rule, "wrong-answers", path, "Changes and files of the archived action are unknown.",
                        error.expected or error.message, f"{error.message}: {error.found}", RESTORE,
                        key=action.instant.file_name,
                    )  # fmt: skip


def _rows(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LSM-018, TL-004, LSM-020: each archived action has a completion time after its request, and its metadata.

    An upgrade from version 6 takes the completion times of its archive over, which old releases did not store.
    """
    written = {file.name.instant for file in table.data_files.values()}
    for file, actions in table.history.actions.items():
        path = f"{table.history.folder}/{file.name}"
        for action in actions:
            tally.looked("LSM-018", "TL-004")
            fault = _fault_of_row(action, has_files=action.instant.requested in written)
            if fault is not None and not (table.opened.had_version_6 and fault[0] in ("LSM-018", "TL-004")):
                rule, meaning, expected, found = fault
                severity: Severity = "cosmetic" if rule in ("LSM-020", "LSM-021") else "wrong-answers"
                yield Finding(rule, severity, path, meaning, expected, found, RESTORE, key=action.instant.requested)
        yield from _unknown_actions(table, file, tally)


def _fault_of_row(action: ArchivedAction, *, has_files: bool) -> tuple[str, str, str, str] | None:
    """Rule, meaning, what is expected and what is found; None of a row without a fault."""
    instant = action.instant
    if instant.completion is None:
        return "LSM-018", "Readers order the action by its request, or take it for pending.", "a completion time", "null"
    if instant.completion <= instant.requested:
        meaning = "Readers apply the changes of the action in a wrong order."
        return "TL-004", meaning, f"a completion after {instant.requested}", instant.completion
    if action.metadata is None and (instant.action not in COMMITS or has_files):
        return "LSM-020", "The files that the action wrote or removed are unknown.", "metadata that names its files", "null"
    if action.plan is not None and instant.action in ("commit", "deltacommit") and not _is_of_a_service(action):
        return "LSM-021", "No query reads the plan.", "null, because the write had no plan", f"{len(action.plan)} bytes"
    return None


def _is_of_a_service(action: ArchivedAction) -> bool:
    """Whether a compaction or a log compaction may have written the action, as far as its metadata can be read."""
    try:
        metadata = metadata_of(action, "")
    except HudiError:
        return True
    return metadata is None or commit_metadata_of(metadata, "").operation in SERVICES


def _unknown_actions(table: StoredTable, file: LevelFile, tally: Tally) -> Iterator[Finding]:
    """LSM-019: an archived action is one of the format."""
    with opened_level_file(table.storage, table.history.folder, file) as parquet:
        rows = parquet.read(columns=["instantTime", "action"], use_threads=False)
    tally.looked("LSM-019", at=rows.num_rows)
    for requested, action in zip(*(rows.column(name).to_pylist() for name in ("instantTime", "action")), strict=True):
        if action not in ACTIONS:
            yield Finding(
                "LSM-019", "wrong-answers", f"{table.history.folder}/{file.name}",
                "Readers leave the action out, and take its files for those of no write.", ", ".join(sorted(ACTIONS)),
                repr(action), RESTORE, key=str(requested),
            )  # fmt: skip


def _listed_once(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LSM-010: the manifest has each level file once."""
    manifest = table.history.manifest
    if manifest is None:
        return
    tally.looked("LSM-010", at=len(manifest.files))
    for name, times in sorted(Counter(file.name for file in manifest.files).items()):
        if times > 1:
            yield Finding("LSM-010", "cosmetic", f"{table.history.folder}/manifest_{manifest.number}",
                          "Readers that do not look for duplicates have the actions of the file twice.", f"{name} once",
                          f"{times} times", RESTORE, key=name)  # fmt: skip


def _twice(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """An action is archived once, and if it is still active as well, with the same completion time."""
    archived: dict[tuple[str, str], ArchivedAction] = {}
    for file, actions in table.history.actions.items():
        path = f"{table.history.folder}/{file.name}"
        for action in actions:
            tally.looked("ARC-002")
            first = archived.setdefault(action.instant.identity, action)
            if first is not action:
                yield _different(table, path, first, action) if first.instant != action.instant else Finding(
                    "ARC-002", "cosmetic", path, "The action counts once.", "each action once in the history",
                    f"{action.instant.file_name} again", "none is needed", key=action.instant.requested,
                )  # fmt: skip
    active = {instant.identity: instant for instant in table.timeline.completed}
    for identity in active.keys() & archived.keys():
        is_known = identity[0] in table.repeated_initializations
        if not is_known and archived[identity].instant.completion not in (None, active[identity].completion):
            yield Finding(
                "ARC-002", "wrong-answers", table.path_of(active[identity]), "Readers differ in when the action completed.",
                f"completion {active[identity].completion}, as on the active timeline",
                f"{archived[identity].instant.completion} in the history", RESTORE,
            )  # fmt: skip


def _different(table: StoredTable, path: str, first: ArchivedAction, again: ArchivedAction) -> Finding:
    place, found = f"{first.instant.file_name}, as in another row", again.instant.file_name
    if again.instant.requested in table.repeated_initializations:
        meaning = "A partition of the metadata table was made again under the same time; readers need neither completion time."
        return Finding("ARC-002", "cosmetic", path, meaning, place, found, "none is needed", key=again.instant.requested)
    return Finding("ARC-002", "wrong-answers", path, "Readers differ in when the action completed.", place, found, RESTORE,
                   key=again.instant.requested)  # fmt: skip


def _order(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The rows of a level file are sorted. Those that an upgrade from version 6 writes are not, and readers do not need it."""
    for file, actions in table.history.actions.items():
        tally.looked("LSM-022")
        if file.minimum <= file.maximum and not _is_sorted(actions):
            yield _unsorted(table, file)


def _is_sorted(actions: Sequence[ArchivedAction]) -> bool:
    times = [action.instant.requested for action in actions]
    return times == sorted(times)


def _unsorted(table: StoredTable, file: LevelFile) -> Finding:
    return Finding(
        "LSM-022", "cosmetic", f"{table.history.folder}/{file.name}", "Readers sort the actions themselves.",
        "rows by requested time", "rows in another order", "none is needed",
    )  # fmt: skip


def _pending_in_history(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """An archived action is completed, so that it is not pending on the active timeline."""
    archived = {instant.identity: instant for instant in table.history.instants}
    for instant in table.timeline.pending:
        tally.looked("ARC-003")
        if instant.identity in archived:
            severity: Severity = "cosmetic"
            meaning = "The service would be executed again."
            if archived[instant.identity].action in COMMITS:
                severity, meaning = "wrong-answers", "Writers roll the action back as a failed one, although it had completed."
            yield Finding(
                "ARC-003", severity, table.path_of(instant), meaning,
                "no pending file of an archived action", f"{instant.state.name.lower()}, and completed in the history",
                "delete the pending files of this instant",
            )  # fmt: skip


CHECKS = (
    Check("history.readable", ("LSM-001", "LSM-003", "LSM-007", "LSM-009", "LSM-010", "LSM-011", "LSM-012", "LSM-013",
                               "LSM-017", "LSM-018", "LSM-019", "COMPAT-003"), "cheap", _readable),
    Check("history.version-file", ("LSM-007",), "cheap", _version_file),
    Check("history.later-manifests", ("LSM-007",), "cheap", _later_manifests),
    Check("history.unlisted-files", ("LSM-010", "LSM-012"), "cheap", _unlisted),
    Check("history.file-names", ("LSM-014", "LSM-015"), "cheap", _file_names),
    Check("history.contents", ("LSM-020", "LSM-021"), "cheap", _contents),
    Check("history.rows", ("LSM-018", "LSM-019", "LSM-020", "LSM-021", "TL-004"), "cheap", _rows),
    Check("history.listed-once", ("LSM-010",), "cheap", _listed_once),
    Check("history.no-action-twice", ("ARC-002",), "cheap", _twice),
    Check("history.order", ("LSM-022",), "cheap", _order),
    Check("history.completed-only", ("ARC-003",), "cheap", _pending_in_history),
)  # fmt: skip
