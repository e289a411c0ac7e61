"""Mutants of base files: names, formats, and files of failed attempts."""

import re

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files import base_file
from hudi_reference.layout import names
from hudi_reference.query import file_system_view
from hudi_reference.write.writer import Writer


@mutant(breaks="BF-010")
def orc_files_named_parquet(patch: Patch) -> None:
    """Writes ORC content into files named .parquet, and reads them as ORC."""
    patch.edit(
        Writer._add_base_file,
        "self.schema, name.extension,",
        "self.schema, 'orc',",
    )
    patch.item(base_file._READ, "parquet", base_file._READ["orc"])
    patch.item(base_file._READ_FOOTER, "parquet", base_file._READ_FOOTER["orc"])


@mutant(breaks=("BF-010", "BF-011"))
def base_file_extension_ignored(patch: Patch) -> None:
    """Reads base files in the format of the table, whatever their extension is."""
    from hudi_reference.files import base_file

    patch.item(base_file._READ, "orc", base_file._READ["parquet"])


@mutant(breaks="BF-012")
def lance_files_left_out(patch: Patch) -> None:
    """Does not take Lance files as base files, nor their names in the metadata of writes, so that their rows are missing."""
    patch.set(names, "_BASE", re.compile(names._BASE.pattern.replace("|lance", ""), re.ASCII))
    patch.edit(
        file_system_view._collect_data_files,
        "parsed is None and path in committed",
        "parsed is None and path in committed and not path.endswith('.lance')",
    )
