"""Mutants of the folders and files of a table."""

import os
from datetime import date
from decimal import Decimal
from functools import partial

import pyarrow.types as pt

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference import tables
from hudi_reference.query import file_system_view
from hudi_reference.query.pruning import folder_listing, partition_columns
from hudi_reference.storage.local import LocalStorage
from hudi_reference.storage.system_calls import SystemCalls


@mutant(breaks="LAY-001")
def record_key_fields_not_stored(patch: Patch) -> None:
    """Keeps the record key fields of a table in the memory of the process that created it, and not in the table."""
    patch.edit(
        tables.create_table,
        "    merging_of(",
        "    vars(create_table).update({uri: entries.pop('hoodie.table.recordkey.fields')})\n    merging_of(",
    )
    patch.edit(
        tables.open_table,
        "= read_properties(store)",
        "= TableProperties({**(p := read_properties(store)).entries,"
        ' "hoodie.table.recordkey.fields": vars(create_table).get(uri, p.get("hoodie.table.recordkey.fields"))})',
    )


@mutant(breaks=("LAY-005", "CLN-001"))
def symbolic_links_followed(patch: Patch) -> None:
    """Follows symbolic links below the base path, for reads, listings, writes and deletions."""
    patch.set(SystemCalls, "open_folder", staticmethod(partial(os.open, flags=os.O_RDONLY | os.O_DIRECTORY)))
    patch.set(SystemCalls, "open_file", staticmethod(partial(os.open, flags=os.O_RDONLY)))
    patch.set(SystemCalls, "status", staticmethod(os.stat))
    patch.edit(
        LocalStorage._entries,
        'if entry.is_symlink():\n                    kind = "link"\n                elif entry.is_dir(',
        "if entry.is_dir(follow_symlinks=True) or entry.is_dir(",
    )


@mutant(breaks="LAY-012")
def metadata_folder_read_as_partition(patch: Patch) -> None:
    """Reads data files below .hoodie as rows of the table."""
    patch.edit(file_system_view.load_file_groups, "storage.list(skip=META_FOLDER)", "storage.list()")
    patch.edit(folder_listing.list_all, "storage.list(skip=META_FOLDER)", "storage.list()")
    patch.edit(folder_listing.list_partitions, """ and name != f"{META_FOLDER}/\"""", "")


@mutant(breaks="LAY-008")
def folder_names_parsed_leniently(patch: Patch) -> None:
    """Parses the names of folders as Python parses numbers and dates: with underscores, spaces, and in other forms."""
    lenient = ((pt.is_integer, int), (pt.is_floating, float), (pt.is_decimal, Decimal), (pt.is_date, date.fromisoformat))
    patch.set(partition_columns, "_FROM_TEXT", (*lenient, *partition_columns._FROM_TEXT))
