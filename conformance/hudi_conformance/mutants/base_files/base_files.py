"""Mutants of base files: names, formats, and files of failed attempts."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files import base_file
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
