"""Whether a secondary index has the entries of the write that created it.

ER-208: a write of deployed releases that creates a secondary index by its settings adds no entries for its own rows. The index
is made before the write, of the rows that the table has then, and only later writes add theirs.

    action of the metadata table                 files of the index
    creation in a table with rows                base files
    creation in a new table                      none, and empty log files that no metadata names
    a write of the data table                    log files
"""

from collections.abc import Iterator

from hudi_reference.layout.names import BaseFileName, parse_data_file_name, split_path
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.query.file_system_view import load_commit
from hudi_reference.query.pruning.table_indexes import Commits
from hudi_reference.requirement import implements
from hudi_reference.timeline.active import Timeline, completion_order
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.history.archived import archived_commits
from hudi_reference.timeline.instants.instant import Instant


@implements("IDX-024", "MDT-001")
def lacks_first_write(partition: str, metadata: MetadataTable, timeline: Timeline, data: Timeline, commits: Commits) -> bool:
    """Whether the first write of the data table after the creation of an index added nothing to it.

    `timeline` is that of the metadata table, `data` that of the data table, with the metadata of its active writes.
    """
    first: CommitMetadata | None = None
    for instant, commit in _deltacommits(metadata, timeline):
        if _adds_base_files(commit, partition):
            first = None
        elif first is None and _changes_rows(instant, data, commits):
            first = commit
    return first is not None and all(stat.partition != partition for stat in first.stats)


def _deltacommits(metadata: MetadataTable, timeline: Timeline) -> Iterator[tuple[Instant, CommitMetadata]]:
    """The completed deltacommits of the metadata table with their metadata, archived ones too, by completion time."""
    found = dict(archived_commits(timeline.archived))
    found |= {one: load_commit(metadata.storage, metadata.properties, one, metadata.checks) for one in timeline.commits}
    yield from sorted(((i, c) for i, c in found.items() if i.action == "deltacommit"), key=lambda one: completion_order(one[0]))


def _adds_base_files(commit: CommitMetadata, partition: str) -> bool:
    files = (
        parse_data_file_name(split_path(stat.path)[1]) for stat in commit.stats if stat.partition == partition and stat.path
    )
    return any(isinstance(file, BaseFileName) for file in files)


def _changes_rows(instant: Instant, data: Timeline, commits: Commits) -> bool:
    """Whether a deltacommit of the metadata table belongs to a write of the data table."""
    requested = instant.requested
    active = [commit for one, commit in commits.items() if one.requested == requested]
    found = active or archived_commits(data.archived, requested, requested).values()
    return any(commit.stats and not commit.is_service for commit in found)
