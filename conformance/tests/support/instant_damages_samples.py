"""Damages of instants that share their time with others, or that no reader knows, and of definitions and ranges that are lost."""

import validated_tables_samples as t
from consistent_hashing_samples import lose_metadata, resized
from damages_samples import Damage

from hudi_reference.layout.names import split_path
from hudi_reference.storage import Storage

_OLD = "20200101000000000_20200101000000001"


def _clean_at_the_time_of_a_write(storage: Storage) -> None:
    """The clean was requested at the time of the last write."""
    (plan,) = t.paths(storage, ".clean.requested")
    requested = split_path(t.completed(storage, "commit"))[1].partition("_")[0]
    t.move(storage, plan, f"{t.TIMELINE}/{requested}.clean.requested")


def _complete_again_alike(storage: Storage) -> None:
    path = t.completed(storage, "commit", 0)
    requested = split_path(path)[1].partition("_")[0]
    storage.put(f"{t.TIMELINE}/{requested}_{int(requested) + 99:017}.commit", storage.get(path))


def _index_without_definitions(storage: Storage) -> None:
    """An index of a user is in use, and no property says where its definition is."""
    t.change_properties(storage, {"hoodie.table.metadata.partitions": "files,expr_index_x"})
    storage.put(".hoodie/metadata/expr_index_x/.hoodie_partition_metadata", b"commitTime=1\npartitionDepth=1\n")


INSTANT_DAMAGES = (
    Damage("a clean at the time of a write", "timeline.one-action-for-a-time", "TL-034", lambda: t.with_plan("clean"),
           _clean_at_the_time_of_a_write, severity="cosmetic"),
    Damage("completed twice alike", "timeline.completed-once", "TL-052", t.copy_on_write, _complete_again_alike,
           severity="cosmetic"),
    Damage("an unknown action without files", "timeline.actions", "TL-037", t.copy_on_write,
           lambda s: s.put(f"{t.TIMELINE}/{_OLD}.moon", b""), severity="cosmetic"),
    Damage("an index without a path of definitions", "layout.index-definitions", "LAY-016", t.with_metadata_table,
           _index_without_definitions, ("PROP-012", "IDX-010")),
    Damage("first ranges of hashes lost", "layout.hash-ranges", "LAY-021", resized, lambda s: lose_metadata(s, "north/"),
           severity="cosmetic", says="the number of buckets with which"),
    Damage("ranges of hashes after a split lost", "layout.hash-ranges", "LAY-021", resized, lambda s: lose_metadata(s, "south/"),
           severity="wrong-answers", says="or write all rows of the partition again"),
)  # fmt: skip
