"""Log file names of table version 6, spec "Log Format > Log file name".

In version 6 the instant in the name of a log file is not that of its writer: it names the slice that the file belongs to.
"""

from collections.abc import Collection

from hudi_reference.requirement import implements


@implements("COMPAT-003", "MRG-009")
def names_its_slice(instant: str, compactions: Collection[str], *, is_legacy: bool) -> bool:
    """Whether a log file with this instant in its name belongs to the slice of that instant.

    The instant is that of the slice's base file, or of a pending compaction. It is so in every table of version 6, and after an
    upgrade for the log files of a compaction that was pending then.

    Args:
        instant: the instant in the name of the log file.
        compactions: the requested times of the pending compactions of its file group.
        is_legacy: whether the table is of version 6.
    """
    # ER-085: after an upgrade a pending compaction is still named by its log files.
    return is_legacy or instant in compactions
