"""Mutants of log files: names, order, and write tokens."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import reader, writer
from hudi_reference.layout import names
from hudi_reference.layout.names import LogFileName
from hudi_reference.query import file_groups
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.write import orphan_files
from hudi_reference.write.writer import Writer


@mutant(breaks="LF-001")
def first_block_of_log_file_only(patch: Patch) -> None:
    """Reads only the first block of a log file."""
    patch.edit(reader._walk, "offset = block.end", "offset = file.size")


@mutant(breaks="LF-002")
def dotted_names_skipped(patch: Patch) -> None:
    """Skips every name that begins with a dot."""
    patch.edit(names.parse_data_file_name, "_LOG.fullmatch(name)", 'None if name.startswith(".") else _LOG.fullmatch(name)')


@mutant(breaks="LF-002")
def log_file_name_prefix_match(patch: Patch) -> None:
    """Takes every name that starts like the name of a log file for a log file, also those of temporary files and checksum
    files.
    """
    patch.edit(names.parse_data_file_name, "_LOG.fullmatch(name)", "_LOG.match(name)")


@mutant(breaks=("LF-002", "LF-005"))
def log_version_of_any_size(patch: Patch) -> None:
    """Accepts a log version of more than 32 bits."""
    patch.edit(names.parse_data_file_name, "log is None or len(log[3]) > 10 or int(log[3]) > GREATEST_VERSION", "log is None")


@mutant(breaks="LF-002")
def hidden_names_skipped(patch: Patch) -> None:
    """Skips files whose names begin with a dot, like those of log files."""
    patch.edit(file_groups._data_files, "if parsed is None or (", 'if parsed is None or name.startswith(".") or (')


@mutant(breaks="LF-003")
def log_file_with_new_file_id(patch: Patch) -> None:
    """Gives each log file a new file id."""
    patch.edit(Writer.append_log_file, "LogFileName(file_slice.file_id", "LogFileName(self.commit.table.ids.file_id()")


@mutant(breaks="LF-004")
def log_file_instant_in_seconds(patch: Patch) -> None:
    """Truncates the instant in the name of a log file to seconds."""
    patch.edit(names.parse_data_file_name, "LogFileName(file_id, instant,", "LogFileName(file_id, instant[:14],")


@mutant(breaks=("LF-004", "LF-035"))
def log_file_named_by_base_instant(patch: Patch) -> None:
    """Names a log file by the instant of the base file, as before version 8."""
    patch.edit(
        Writer.append_log_file,
        "LogFileName(file_slice.file_id, self.commit.requested",
        "LogFileName(file_slice.file_id, file_slice.base_instant",
    )


@mutant(breaks="LF-005")
def log_versions_compared_as_text(patch: Patch) -> None:
    """Applies version 10 of a log file before version 9."""
    patch.edit(LogFileName.merge_order, "self.version, ", "str(self.version), ")


@mutant(breaks="LF-005")
def one_log_file_per_write(patch: Patch) -> None:
    """Drops the rows that do not fit into the first log file of a write."""
    patch.edit(
        Writer.append_log_file,
        "in roll_over(first, blocks, self.logs.max_file_size):",
        "in list(roll_over(first, blocks, self.logs.max_file_size))[:1]:",
    )


@mutant(breaks="LF-005")
def log_files_ordered_by_version_first(patch: Patch) -> None:
    """Orders log files by version first and by instant second."""
    patch.edit(LogFileName.merge_order, "(self.instant, self.version, ", "(self.version, self.instant, ")


@mutant(breaks="LF-006")
def log_file_name_without_write_token(patch: Patch) -> None:
    """Omits the write token in the name of a log file, so that all attempts use one name."""
    patch.edit(names.parse_data_file_name, 'token or "", cdc', '"", cdc')


@mutant(breaks=("LF-006", "TL-005"))
def failed_attempt_logs_read(patch: Patch) -> None:
    """Reads the further log files of a failed attempt if no other file has their version."""
    patch.edit(LogScanner._is_applied, " or self._is_of_failed_attempt(block)", "")


@mutant(breaks="LF-007")
def write_tokens_of_actions_compared(patch: Patch) -> None:
    """Ignores log files of earlier actions because a later action of the group has another write token."""
    patch.edit(
        orphan_files.lost,
        "path not in named[instant]",
        "(path not in named[instant] or ('.log.' in path and instant != max(named)))",
    )


@mutant(breaks="LF-008")
def log_block_format_setting_ignored(patch: Patch) -> None:
    """Stores rows as Avro whatever format is configured."""
    patch.edit(writer.BlockWriter.rows, "match block_format:", 'match "avro":')
