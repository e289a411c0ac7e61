"""Base files of file groups that were bootstrapped: the columns of their first rows are in a file outside of the table.

Rows that are merged with those of another file cannot be read. What a base file itself stores is compared as in other groups.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.validator.checks.deep.files import base_files
from hudi_conformance.validator.checks.deep.files.base_files import (
    BASE_FILE_CHECKS,
    SEQUENCE,
    BaseFile,
    key_at,
    load_base_file,
    where,
)
from hudi_conformance.validator.checks.deep.files.footer_statistics import begins_as_its_format, statistics_hold
from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.query.file_groups import FileSlice

_MATCHED = "Queries match rows with those of the other file by their order, and return other values."


def slices_of(table: StoredTable) -> Sequence[FileSlice]:
    """The slices in scope of groups with a base file that has meta columns alone."""
    groups = (group for group in table.groups if any(one.lacks_columns for one in group.slices))
    return table.scope.chosen(tuple(one for group in groups for one in group.slices))


def examine_slice(table: StoredTable, one: FileSlice, tally: Tally) -> Iterator[Finding]:
    """The findings in the base file of a slice."""
    base = load_base_file(table.opened, one)
    if base is None:
        return
    for check in (*BASE_FILE_CHECKS, begins_as_its_format, statistics_hold):
        yield from check(table.opened, base, tally)
    if one.lacks_columns:
        yield from _in_order_of_the_source(base, tally)


def _in_order_of_the_source(base: BaseFile, tally: Tally) -> Iterator[Finding]:
    """LAY-001: the rows are in the order of the other file. A bootstrap numbers them in it, as their sequence numbers show."""
    if SEQUENCE not in base.rows.column_names:
        return
    tally.looked("LAY-001")
    texts = pc.replace_substring_regex(base.rows.column(SEQUENCE).cast(pa.string()), "^[0-9]+_[0-9]+_", "")
    numbers = pc.if_else(pc.match_substring_regex(texts, "^[0-9]{1,18}$"), texts, None).cast(pa.int64()).combine_chunks()
    if rows := where(pc.less_equal(numbers[1:], numbers[:-1])):
        last = rows[0] + 1
        yield base.finding(
            "LAY-001", "wrong-answers", _MATCHED,
            "rows in the order of their sequence numbers, as in the file that was bootstrapped",
            f"{numbers[last]} after {numbers[last - 1]} in row {last}", key_at(base, [last]),
        )  # fmt: skip


RULES = (*base_files.RULES, "BF-002", "TYP-014", "LAY-001")
BOOTSTRAPPED = Check("rows.bootstrapped", tuple(dict.fromkeys(RULES)), "deep", examine_slice, slices_of, tables="data")
