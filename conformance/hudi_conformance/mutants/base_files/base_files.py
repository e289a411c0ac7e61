"""Planted bugs in base files: their bytes, their names, and the filter in their footers."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.files import base_file
from hudi_reference.files.base import footer
from hudi_reference.write.write import Writer


@planted(breaks="BF-002")
def a_header_before_the_base_file(bug: Bug) -> None:
    """Puts a header of its own before the Parquet content, and skips it when reading."""
    bug.edit(base_file.encode_base_file, "return _ENCODE", "return b'HUDI' + _ENCODE")


@planted(breaks="BF-010")
def orc_files_named_parquet(bug: Bug) -> None:
    """Writes ORC into files that are called .parquet, and reads them so."""
    bug.edit(
        Writer._add_base_file,
        "self.schema, name.extension,",
        "self.schema, 'orc',",
    )
    bug.item(base_file._READ, "parquet", base_file._READ["orc"])
    bug.item(base_file._READ_FOOTER, "parquet", base_file._READ_FOOTER["orc"])


@planted(breaks=("BF-011", "BF-010"))
def the_format_of_the_first_file(bug: Bug) -> None:
    """Reads every base file of a table in the format of the oldest one beside it."""
    bug.edit(
        base_file._by_extension,
        'extension = split_path(path)[1].rpartition(".")[2]',
        "beside = [i.path for i in storage.list(split_path(path)[0], skip='.hoodie') if i.path.endswith(tuple(how))]; "
        "extension = min(beside or [path], key=lambda p: p.rpartition('_')[2]).rpartition('.')[2]",
    )


@planted(breaks="IDX-004")
def filters_without_the_last_rows(bug: Bug) -> None:
    """Makes the filter of a base file before its last row is added."""
    bug.edit(footer.footer_of, "make_file_filter(keys, bloom)", "make_file_filter(keys[:-1], bloom)")
