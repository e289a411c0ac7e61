"""The functions of the contract that plan a clustering without a table, computed by the reference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_reference.files.base.column_ranges import Range
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.services.clustering.groups import Candidate, group_slices, limit_groups, strategy_of
from hudi_reference.services.clustering.partitions import partitions_to_cluster
from hudi_reference.services.clustering.settings import ClusteringSettings

Json = Any


@dataclass(frozen=True)
class _Given:
    """The statistics of files in the arguments, by file id."""

    files: Mapping[str, Mapping[str, Json]]

    def values(self, found: FileSlice, columns: Sequence[str]) -> Sequence[Range]:
        """The ranges of the values in these columns, by column."""
        given = self.files[found.file_id].get("columns", {})
        return [_range(given.get(column)) for column in columns]

    def keys(self, found: FileSlice) -> Range:
        """The range of the record keys."""
        return _range(self.files[found.file_id].get("keys"))


def _range(given: Json) -> Range:
    return None if given is None else (given[0], given[1])


def clustering_groups(files: Sequence[Mapping[str, Json]], settings: Mapping[str, str]) -> Json:
    """The function `clustering.groups`: how the eligible files of one partition are grouped.

    A file has `id`, `size` in bytes and `instant`; where they are known `keys`, and for each of its `columns` least and
    greatest value. A group is the ids of its files, sorted, and the number of its outputs.
    """
    meant = ClusteringSettings.from_options(settings)
    candidates = [Candidate(FileSlice("", file["id"], file["instant"], file["id"]), file["size"]) for file in files]
    found = group_slices(candidates, strategy_of(meant), meant, _Given({file["id"]: file for file in files}))
    return [
        {"files": sorted(candidate.file_slice.file_id for candidate in row), "outputs": outputs}
        for row, outputs in limit_groups(found, meant.most_groups)
    ]


def clustering_partitions(partitions: Sequence[str], settings: Mapping[str, str], hour: int) -> list[str]:
    """The function `clustering.partitions`: which partitions a plan looks at, in this order, at this hour of the day."""
    meant = ClusteringSettings.from_options(settings)
    return partitions_to_cluster(partitions, meant, strategy_of(meant).mode or meant.mode, hour)
