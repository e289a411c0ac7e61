"""Base files of completed writes that the metadata of their write does not name."""

import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL
from hudi_reference import cluster
from hudi_reference.layout.names import split_path


def test_a_result_that_the_metadata_of_a_clustering_lacks_is_lost() -> None:
    """TL-007: a clustering copies rows of earlier writes. Without a file that it stored, they are lost."""
    storage = t.clustered()
    lost: list[str] = []

    def change(record: dict[str, dict[str, list[dict[str, str]]]]) -> None:
        lost.append(record["partitionToWriteStats"]["north"].pop()["path"])

    t.change_record(storage, t.completed(storage, "replacecommit"), change)
    found = {(one.rule, one.severity) for one in t.validated(storage, ALL).findings if one.path == lost[0]}
    assert ("TL-007", "data-lost") in found


def test_the_file_of_a_failed_attempt_of_a_clustering_takes_space_only() -> None:
    """TL-007: another attempt stored the same rows in the file that the metadata names."""
    storage = t.copy_on_write()
    assert cluster(t.reopened(storage), {"hoodie.clustering.inline.max.commits": "1"})
    time = split_path(t.completed(storage, "replacecommit"))[1][:17]
    (path,) = (one for one in t.base_files(storage) if time in one and one.startswith("north/"))
    storage.put(path.replace("-0_", "-0_9", 1), storage.get(path))
    assert {(one.rule, one.severity) for one in t.validated(storage, ALL).findings} == {("BF-007", "lost-space")}
