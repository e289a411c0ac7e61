"""Replacing whole partitions, spec "Timeline > Actions": replacecommit.

    replacecommit.requested     an empty plan: every field is null
    replacecommit.inflight
    base files are stored       an insert overwrite stores its rows in new file groups; a deletion stores none
    replacecommit               the completion names the groups that the partitions had; readers ignore these from here on

The old files are kept until they are cleaned, for reads as of an earlier time. Concurrent changes of these groups would be
lost: of two concurrent actions the later one aborts. `write.py` does an insert overwrite.
"""

from collections.abc import Iterable

import pyarrow as pa

from hudi_reference.query.table import Table
from hudi_reference.records.keys.record_keys import KeyGenerator, with_settings
from hudi_reference.requirement import implements
from hudi_reference.storage import require_inside_table
from hudi_reference.timeline.contents.metadata import DELETE_PARTITION
from hudi_reference.write.column_ids import version_entry, view_for_write
from hudi_reference.write.write import begin_write, run_with_retries


@implements("TL-039", "OCC-013")
def delete_partitions(table: Table, paths: Iterable[str]) -> str:
    """Delete all rows of these partitions: one action replaces their file groups by none; its requested time.

    The action names each of the partitions, also one that has no file group.

    Raises UnsupportedTableFeature, PathOutsideTable, InstantExists and WriteConflict, as writes do.
    """
    chosen = sorted({require_inside_table(path) for path in paths})

    def attempt() -> str:
        view = view_for_write(table)
        commit = begin_write(table, DELETE_PARTITION, view.timeline, (), view.groups.slices_in(chosen))
        empty: dict[str, list[str]] = {path: [] for path in chosen}
        commit.replaced = empty | dict(commit.replaced or {})
        return commit.complete(view.schema, version_entry(view, table.properties, commit.requested))

    return run_with_retries(table, attempt)


def partitions_of(table: Table, rows: pa.Table) -> list[str]:
    """The paths of the partitions that rows lie in, of which only the partition columns matter. Raises InvalidRows."""
    paths: list[str] = KeyGenerator.from_properties(with_settings(table.properties, table.options)).paths(rows).to_pylist()
    return sorted(set(paths))
