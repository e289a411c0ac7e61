"""The pass over all rows: each file of a file group is read once, in the order of its slices.

At most two base files, or one base file and one block, are in memory, and the keys in the log files of one slice.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from hudi_conformance.validator.checks.deep import file_entries
from hudi_conformance.validator.checks.deep.files import base_files, compactions, footer_statistics, log_compactions, log_files
from hudi_conformance.validator.checks.deep.files.base_files import BASE_FILE_CHECKS, BaseFile, load_base_file
from hudi_conformance.validator.checks.deep.files.compactions import merged_as_read
from hudi_conformance.validator.checks.deep.files.counts import Counted, Logs, counts_of_a_compaction, counts_of_a_rewrite
from hudi_conformance.validator.checks.deep.files.footer_statistics import begins_as_its_format, statistics_hold
from hudi_conformance.validator.checks.deep.files.log_compactions import compacted_as_read
from hudi_conformance.validator.checks.deep.files.log_files import log_file_findings
from hudi_conformance.validator.checks.deep.files.rewrites import copied_rows_are_unchanged
from hudi_conformance.validator.checks.finding import Check, Finding, Tally, finding_of
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError, MissingDataFile
from hudi_reference.query.file_groups import FileGroup, FileSlice

_UNREADABLE = "Queries that read the file fail."


def groups_of(table: StoredTable) -> Sequence[FileGroup]:
    """The file groups in scope, replaced ones included, without those whose rows are stored in files outside of the table."""
    return table.scope.chosen(tuple(group for group in table.groups if not _lacks_columns(group)))


def has_all_rows(table: StoredTable) -> bool:
    """Whether the data files have all rows of the table, as its completed writes name them.

    No file group needs a file that was bootstrapped, and it is known which write stored and replaced what.
    """
    knows_writes = table.commits.keys() == set(table.timeline.commits) and (table.timeline.commits or not table.data_files)
    return bool(knows_writes) and not any(_lacks_columns(group) for group in table.groups)


def _lacks_columns(group: FileGroup) -> bool:
    return any(one.lacks_columns for one in group.slices)


def examine_group(table: StoredTable, group: FileGroup, tally: Tally) -> Iterator[Finding]:
    """The findings in the files of a group."""
    older: BaseFile | None = None
    before: FileSlice | None = None
    logs: Logs = {}
    for one in reversed(group.slices):
        base, error = _loaded(table, one)
        if error is not None:
            yield error
        if base is not None:
            tally.looked("BF-002")
            yield from _base_file_findings(table, base, older, tally)
            if before is not None:
                yield from _caught(merged_as_read(table.opened, before, one, tally), base.path)
            yield from counts_of_a_compaction(table, base, logs, tally)
        if one.log_files:
            yield from _caught(compacted_as_read(table.opened, one, tally), one.path(one.log_files[-1]))
        instants = set[str]()
        logs = {name: Counted() for name in one.log_files if name not in one.missing}
        for name, counted in logs.items():
            yield from _log_findings(table, one.path(name), base, tally, instants, counted)
        older, before = base or older, one


def _loaded(table: StoredTable, one: FileSlice) -> tuple[BaseFile | None, Finding | None]:
    try:
        return load_base_file(table.opened, one), None
    except MissingDataFile:
        raise
    except HudiError as error:
        return None, finding_of(error, "wrong-answers", _UNREADABLE, rule="BF-002", path=one.path(one.base_file or ""))


def _base_file_findings(table: StoredTable, base: BaseFile, older: BaseFile | None, tally: Tally) -> Iterator[Finding]:
    found = [check(table.opened, base, tally) for check in (*BASE_FILE_CHECKS, begins_as_its_format, statistics_hold)]
    if older is not None:
        found.append(copied_rows_are_unchanged(table.opened, older, base, tally))
        found.append(counts_of_a_rewrite(table.opened, older, base, tally))
    found.append(file_entries.base_file_findings(table.opened, base, tally))
    for findings in found:
        yield from _caught(findings, base.path)


def _log_findings(
    table: StoredTable, path: str, base: BaseFile | None, tally: Tally, instants: set[str], counted: Counted
) -> Iterator[Finding]:
    entries = file_entries.LogRows(table.opened, path, tally)
    found = log_file_findings(table.opened, path, base, tally, instants, counted, entries.add)
    yield from _caught(chain(found, entries.findings()), path)


def _caught(findings: Iterator[Finding], path: str) -> Iterator[Finding]:
    """The findings up to an error of the reference, and the finding of that error."""
    try:
        yield from findings
    except MissingDataFile:
        raise
    except HudiError as error:
        yield finding_of(error, "wrong-answers", _UNREADABLE, rule="BF-002", path=path)


_RULES = (
    "BF-002", *base_files.RULES, *log_files.RULES, "META-004", "TL-005", *footer_statistics.RULES, *compactions.RULES,
    *log_compactions.RULES, *file_entries.RULES,
)  # fmt: skip
GROUPS = Check("rows.file-groups", tuple(dict.fromkeys(_RULES)), "deep", examine_group, groups_of, tables="data")
