"""Runs checks on a table and collects their findings."""

import gc
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from hudi_conformance.validator.checks.cheap.presence import misplaced
from hudi_conformance.validator.checks.finding import (
    NO_ACTIONS,
    NOT_READ,
    REFUSED_SLICE,
    SEVERITIES,
    STRAYS,
    UNSOUND,
    Check,
    Finding,
    Tally,
    finding_of,
)
from hudi_conformance.validator.checks.remedies import REBUILD, rebuild
from hudi_conformance.validator.stored.pending import PendingAction, pending_actions
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError, MissingDataFile
from hudi_reference.layout.metadata_settings import USABLE
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.layout.properties import BACKUP_PATH, META_FOLDER, PROPERTIES_PATH
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.storage.system_faults import memory_used_up

_STOPPED = "The reader refuses the table here, so that this part could not be examined further."
#: The properties from which the folder of a row follows.
_OF_FOLDERS = (
    "hoodie.table.partition.fields", "hoodie.table.keygenerator.type", "hoodie.datasource.write.hive_style_partitioning",
)  # fmt: skip
#: The rules that rows in a file of another folder break, and that the entries of such a file in the metadata table break.
_AFTER_A_MOVE = ("LAY-018", "META-009", "TL-007", "MDT-007", "MDT-008")
#: Called before each part of a check: its name, the number of parts that are done, and of all its parts.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Validation:
    """The result of a validation.

    Attributes:
        table: the URI.
        version: the table version as stored, or None.
        findings: the worst first.
        checked: how many objects were examined for each rule.
        broken: the checks that failed themselves, with the error; their part of the table was not examined.
    """

    table: str
    version: int | None
    findings: tuple[Finding, ...] = ()
    checked: dict[str, int] = field(default_factory=dict)
    broken: tuple[str, ...] = ()
    #: The pending actions; they are no fault of the table.
    pending: tuple[PendingAction, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether no finding affects rows."""
        return not any(finding.severity in UNSOUND for finding in self.findings)


def validate(table: StoredTable, checks: Iterable[Check], progress: Progress = lambda name, done, total: None) -> Validation:
    """Run the checks one after another in this process."""
    try:
        return _validate(table, checks, progress)
    finally:
        gc.unfreeze()


def _validate(table: StoredTable, checks: Iterable[Check], progress: Progress) -> Validation:
    findings: list[Finding] = []
    tally, broken = Tally(), list[str]()
    for check in checks:
        gc.freeze()  # what is read of the table stays; the search for cycles in it costs a third of the time
        tally.looked(*check.rules, at=0)
        for place, examined in tables_of(table, check):
            try:
                parts = check.parts(examined)
                for number, part in enumerate(parts):
                    progress(check.name, number, len(parts))
                    findings += (below(place, finding) for finding in run_part(check, examined, part, tally))
            except Exception:  # a fault of a check must not hide what the others find
                broken.append(f"{check.name}: {traceback.format_exc(limit=-3)}")
    return result_of(table, findings, tally, broken)


def result_of(table: StoredTable, findings: Iterable[Finding], tally: Tally, broken: Iterable[str] = ()) -> Validation:
    """The result of a validation.

    With `--only`, other findings of the same checks are left out. So is what was concluded from a folder that cannot be listed.
    """
    wanted = table.scope.rules
    known = [one for one in findings if (not wanted or one.rule in wanted) and _is_known(table, one)]
    causes = _without_moves(table, known)
    kept = _once(in_order(_with_upgrade(one) for one in causes) if table.properties.is_legacy else in_order(causes))
    checked = {rule: count for rule, count in sorted(tally.counts.items()) if not wanted or rule in wanted}
    return Validation(table.uri, table.version, kept, checked, tuple(broken), pending_actions(table))


def _without_moves(table: StoredTable, findings: Sequence[Finding]) -> Iterable[Finding]:
    """The findings without those that follow from files in a wrong folder, for which TL-036 names the right one."""
    moved = misplaced(table) if any(one.rule == "TL-036" for one in findings) else frozenset[str]()
    places = {part for path in moved for part in (path, *split_path(path)) if part}
    return (
        one
        for one in findings
        if one.rule not in _AFTER_A_MOVE or places.isdisjoint((one.path, one.key, split_path(one.key or "")[1]))
    )


def _with_upgrade(finding: Finding) -> Finding:
    """A finding of a table of version 6, which the services of this project do not change."""
    if "hudi-conformance service" not in finding.remedy:
        return finding
    return replace(finding, remedy=f"{finding.remedy} (after hudi-conformance migrate TABLE --yes, or with Apache Hudi)")


def _once(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings without those of readers that another check reports with more: which action names a lost file, which index.

    That of an action has a key, and that of an index the path of the index. Where a reader stopped, or refuses a slice, is left
    out if the fault is known; so are rows in other folders if the properties from which the folders follow are wrong.
    """
    named = {one.path for one in findings if one.rule == "TL-036" and one.key}
    faults = {_fault(one) for one in findings if one.meaning not in (_STOPPED, REFUSED_SLICE)}
    known = {(one.rule, one.expected, one.found) for one in findings if one.path != METADATA_FOLDER}
    lost_timelines = {(one.rule, one.path) for one in findings if one.meaning == NO_ACTIONS}
    has_other_folders = any(one.path == PROPERTIES_PATH and one.key in _OF_FOLDERS for one in findings)
    return tuple(
        one
        for one in findings
        if not (one.rule == "TL-036" and not one.key and one.path in named)
        and not (one.path == METADATA_FOLDER and (one.rule, one.expected, one.found) in known)
        and not (one.meaning != NO_ACTIONS and (one.rule, one.path) in lost_timelines)
        and not (one.meaning == STRAYS and has_other_folders)
        and not (
            one.meaning in (_STOPPED, REFUSED_SLICE)
            and not faults.isdisjoint((_fault(one), _fault(one, one.found.partition(": ")[2])))
        )
    )


def _fault(finding: Finding, found: str | None = None) -> tuple[str, ...]:
    """What is wrong, by which the findings of one fault are recognized. An error says in words, too, what was found."""
    return finding.rule, finding.path, finding.expected, finding.found if found is None else found


def _is_known(table: StoredTable, finding: Finding) -> bool:
    """Whether a finding does not follow from a folder that storage did not list."""
    if not table.listing.unlisted or finding.meaning == NOT_READ:
        return True
    has_actions = table.listing.knows_actions or finding.path in (PROPERTIES_PATH, BACKUP_PATH)
    return has_actions and table.listing.knows(finding.path)


def tables_of(table: StoredTable, check: Check) -> tuple[tuple[str, StoredTable], ...]:
    """The tables that a check examines, each with its folder: the table, and the metadata table if the check is for both."""
    metadata = table.metadata_table if check.tables == "both" else None
    return (("", table),) if metadata is None else (("", table), (METADATA_FOLDER, metadata))


def below(folder: str, finding: Finding) -> Finding:
    """A finding of the metadata table in a folder, with its path below the base path of the outer table.

    Nothing of it is lost, because it can be built again from the data: that is the remedy, and the commands that repair a table
    would change the outer one. A fault of the storage has the whole path, and is no reason to build anything again.
    """
    if not folder:
        return finding
    if finding.meaning == NOT_READ:
        return finding if finding.path.startswith(f"{folder}/") else replace(finding, path=f"{folder}/{finding.path}")
    severity, remedy = finding.severity, finding.remedy
    if severity in UNSOUND or "hudi-conformance" in remedy:
        severity, remedy = "wrong-answers" if severity in UNSOUND else severity, _build_again(finding)
    return replace(finding, path=f"{folder}/{finding.path}", severity=severity, remedy=remedy)


def _build_again(finding: Finding) -> str:
    """How to build the damaged part of the metadata table again: an index, or all of it."""
    index = finding.path.partition("/")[0]
    return REBUILD if index in (META_FOLDER, BuiltIn.FILES) or "/" not in finding.path else rebuild(index)


def run_part(check: Check, table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The findings of a check in one part of a table. An error of the reference is a finding too, and ends the part."""
    try:
        yield from (in_metadata_table(table, finding) for finding in check.run(table, part, tally))
    except (FileNotFoundError, MissingDataFile) as error:
        path = str(error.path if isinstance(error, MissingDataFile) else error.args[0])
        inside = f"{METADATA_FOLDER}/{path}"  # the metadata table has paths of its own
        was_listed = path in table.listing.files or inside in table.listing.files
        yield _disappeared(path) if was_listed else missing_file(table, path)
    except (HudiError, MemoryError) as error:
        refused = error if isinstance(error, HudiError) else memory_used_up(str(part or table.uri))
        found = finding_of(refused, "wrong-answers", _STOPPED, rule=check.rules[0], path=str(part or table.uri))
        yield in_metadata_table(table, found)


def in_metadata_table(table: StoredTable, finding: Finding) -> Finding:
    """A finding of a check of the table that has an error of the metadata table: the paths of its errors are relative to it."""
    index, _, name = finding.path.partition("/")
    is_in_index = name and index in table.properties.fields(USABLE) and finding.path not in table.listing.files
    return below(METADATA_FOLDER, finding) if is_in_index or _is_of_lost_timeline(table, finding) else finding


def _is_of_lost_timeline(table: StoredTable, finding: Finding) -> bool:
    """Whether it is the error of a metadata table that has lost its timeline: the table itself has actions."""
    is_of_timeline = (finding.rule, finding.path) == ("LAY-017", table.properties.timeline_folder)
    return is_of_timeline and not table.is_metadata_table and bool(table.state_files)


def _disappeared(path: str) -> Finding:
    """A listed file that is gone when it is read: the table is in use, and a service deletes files."""
    return Finding(
        "RDR-002", "cosmetic", path, "The file was deleted while the table was validated; validate again.",
        "the file, as the listing has it", "no file", "validate the table again while no clean or rollback is running",
    )  # fmt: skip


def missing_file(table: StoredTable, path: str) -> Finding:
    """A file that was gone before the validation began; what else is wrong with it, the checks of actions report."""
    found = Finding(
        "TL-036", "wrong-answers", path, "Readers fail here, so that this part could not be examined further.",
        "the file", "no file", "restore the file from another copy of the table",
    )  # fmt: skip
    partition = path.partition("/")[0]
    if partition not in table.properties.fields(USABLE):
        return found
    if _was_made_again(table, partition):
        meaning = "The partition of the metadata table was made again later; readers that list its folder need no older file."
        found = replace(found, severity="cosmetic", meaning=meaning, remedy="none is needed")
    return below(METADATA_FOLDER, found)


def _was_made_again(table: StoredTable, partition: str) -> bool:
    """ER-210: whether the partition of the metadata table has files of an initialization under a time that was used before."""
    metadata = table.metadata_table
    times = frozenset[str]() if metadata is None else metadata.repeated_initializations
    paths = () if metadata is None else metadata.listing.files
    names = (parse_data_file_name(split_path(path)[1]) for path in paths if path.startswith(f"{partition}/"))
    return any(name is not None and name.instant in times for name in names)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Without duplicates, the worst first, then by rule, path and offset."""

    def order(finding: Finding) -> tuple[int, str, str, int, str]:
        place = SEVERITIES.index(finding.severity)
        return (place, finding.rule, finding.path, finding.offset or 0, finding.key or "")

    return tuple(sorted(dict.fromkeys(findings), key=order))


def chosen(checks: Sequence[Check], *, deep: bool, rules: Iterable[str] = ()) -> tuple[Check, ...]:
    """The checks of the wanted tiers, with `rules` only those that examine one of them."""
    wanted = set(rules)
    return tuple(
        check for check in checks if (deep or check.tier == "cheap") and (not wanted or wanted.intersection(check.rules))
    )
