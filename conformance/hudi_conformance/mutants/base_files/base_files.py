"""Mutants in base files: their bytes, their names, and the filter in their footers."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files import base_file
from hudi_reference.files.base import footer
from hudi_reference.write.writer import Writer


@mutant(breaks="BF-002")
def a_header_before_the_base_file(patch: Patch) -> None:
    """Puts a header of its own before the Parquet content, and skips it when reading."""
    patch.edit(base_file.encode_base_file, "return _ENCODE", "return b'HUDI' + _ENCODE")


@mutant(breaks="BF-010")
def orc_files_named_parquet(patch: Patch) -> None:
    """Writes ORC into files that are called .parquet, and reads them so."""
    patch.edit(
        Writer._add_base_file,
        "self.schema, name.extension,",
        "self.schema, 'orc',",
    )
    patch.item(base_file._READ, "parquet", base_file._READ["orc"])
    patch.item(base_file._READ_FOOTER, "parquet", base_file._READ_FOOTER["orc"])


@mutant(breaks=("BF-011", "BF-010"))
def the_format_of_the_first_file(patch: Patch) -> None:
    """Reads every base file of a table in the format of the oldest one beside it."""
    patch.edit(
        base_file._by_extension,
        'extension = split_path(path)[1].rpartition(".")[2]',
        "beside = [i.path for i in storage.list(split_path(path)[0], skip='.hoodie') if i.path.endswith(tuple(how))]; "
        "extension = min(beside or [path], key=lambda p: p.rpartition('_')[2]).rpartition('.')[2]",
    )


@mutant(breaks="IDX-004")
def filters_without_the_last_rows(patch: Patch) -> None:
    """Makes the filter of a base file before its last row is added."""
    patch.edit(footer.footer_of, "make_file_filter(keys, bloom)", "make_file_filter(keys[:-1], bloom)")
