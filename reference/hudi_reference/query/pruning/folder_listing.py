"""The files of the partitions that a filter needs, from listings of storage."""

from collections.abc import Callable
from typing import NamedTuple

from hudi_reference.layout.names import split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.pruning.partition_pruning import ChosenPartitions, PartitionFilter
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage

#: A listing of all files is one request for a thousand files, a listing of a folder is at least one request.
_FOLDERS_OF_A_LISTING = 16


class Listed(NamedTuple):
    """The paths of the files in some partitions of a table: those for which `holds` is true; None for all partitions."""

    paths: set[str]
    holds: Callable[[str], bool] | None = None


def list_all(storage: Storage) -> set[str]:
    """The paths of all files of a table, without those below the meta folder."""
    return {info.path for info in storage.list(skip=META_FOLDER)}


@implements("LAY-003", "LAY-009", "RDR-018")
def list_partitions(storage: Storage, wanted: PartitionFilter, chosen: ChosenPartitions) -> set[str]:
    """The paths of the files of the partitions that a filter needs.

    If few folders of the base path may contain such partitions, only these are listed. Otherwise one listing of the table is
    cheaper.
    """
    names = storage.names("")
    folders = [name[:-1] for name in names if name.endswith("/") and name != f"{META_FOLDER}/"]
    needed = [folder for folder, may in zip(folders, wanted.may_contain(folders, chosen), strict=True) if may]
    if len(needed) > max(1, len(folders) // _FOLDERS_OF_A_LISTING):
        found = list_all(storage)
    else:
        found = {name for name in names if not name.endswith("/")}
        found |= {info.path for folder in needed for info in storage.list(folder)}
    kept = set(chosen.among({split_path(path)[0] for path in found}))
    return {path for path in found if split_path(path)[0] in kept}
