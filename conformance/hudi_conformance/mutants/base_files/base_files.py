"""Mutants of base files: names, formats, and files of failed attempts."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files import base_file
from hudi_reference.layout import names
from hudi_reference.layout.names import BaseFileName
from hudi_reference.query import file_groups
from hudi_reference.write import orphan_files
from hudi_reference.write.writer import Writer


@mutant(breaks=("BF-001", "LAY-020"))
def file_group_recorded_in_metadata_only(patch: Patch) -> None:
    """Gives a base file a name without file id, and records its file group in the metadata only."""
    patch.edit(
        Writer._add_base_file, "name.file_id, partition, join_path", "self.commit.table.ids.file_id(), partition, join_path"
    )


@mutant(breaks="BF-002")
def base_file_with_extra_header(patch: Patch) -> None:
    """Writes a header of its own before the Parquet content, and skips it when reading."""
    patch.edit(base_file.encode_base_file, "return _ENCODE", "return b'HUDI' + _ENCODE")


@mutant(breaks="BF-003")
def write_token_and_instant_swapped(patch: Patch) -> None:
    """Reads the write token from the position of the instant in the name of a base file."""
    patch.edit(names.parse_data_file_name, "BaseFileName(*base.groups())", "BaseFileName(base[1], base[3], base[2], base[4])")


@mutant(breaks="BF-003")
def base_file_name_parts_reordered(patch: Patch) -> None:
    """Writes the parts of a base file's name in another order."""
    patch.edit(
        BaseFileName.__str__,
        "{self.file_id}_{self.write_token}_{self.instant}",
        "{self.file_id}_{self.instant}_{self.write_token}",
    )


@mutant(breaks=("BF-004", "LAY-020"))
def rewritten_base_file_gets_new_file_id(patch: Patch) -> None:
    """Gives a rewritten base file a new file id."""
    patch.edit(
        Writer.rewrite_base_file, "_base_file_name(file_slice.file_id)", "_base_file_name(self.commit.table.ids.file_id())"
    )


@mutant(breaks=("BF-005", "BF-006", "LF-006"))
def attempts_share_write_token(patch: Patch) -> None:
    """Gives the files of all attempts of a task the same name."""
    patch.edit(Writer.token, "{self.number}-{self.attempt}", "{self.number}-0-0")


@mutant(breaks="BF-007")
def greatest_write_token_kept(patch: Patch) -> None:
    """Keeps the attempt with the greatest write token, and removes the committed file."""
    patch.edit(
        orphan_files.leftover_files,
        "orphan_files(storage, lost(groups.written_files))",
        "tuple(sorted(min(groups.written_files[parse_data_file_name(split_path(path)[1]).instant], default=path)"
        " if '_99999-' in path else path for path in orphan_files(storage, lost(groups.written_files))))",
    )


@mutant(breaks="BF-008")
def failed_attempt_base_files_read(patch: Patch) -> None:
    """Reads base files that a failed attempt of a committed action left."""
    patch.edit(file_groups._data_files, "if won(path):", "if True:")


@mutant(breaks="BF-009")
def base_file_named_by_other_instant(patch: Patch) -> None:
    """Names a new base file by an instant other than that of its action."""
    patch.edit(Writer._base_file_name, "self.commit.requested, extension", "str(int(self.commit.requested) - 1), extension")


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


@mutant(breaks=("BF-011", "BF-010"))
def format_of_oldest_base_file_assumed(patch: Patch) -> None:
    """Reads every base file of a table in the format of the oldest base file."""
    patch.edit(
        base_file._by_extension,
        'extension = split_path(path)[1].rpartition(".")[2]',
        "beside = [i.path for i in storage.list(split_path(path)[0], skip='.hoodie') if i.path.endswith(tuple(how))]; "
        "extension = min(beside or [path], key=lambda p: p.rpartition('_')[2]).rpartition('.')[2]",
    )
