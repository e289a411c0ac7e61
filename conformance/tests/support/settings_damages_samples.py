"""Damages of settings, of left-over files, and of the results of services."""

import json
import re
from collections.abc import Callable
from typing import Any

import consistent_hashing_samples as ranges
import validated_tables_samples as t
from damages_samples import Damage

from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.writer import encode_hfile
from hudi_reference.layout.names import split_path
from hudi_reference.storage import Storage


def _set(key: str, value: str | None):
    return lambda storage: t.change_properties(storage, {key: value})


def _requested(storage: Storage) -> str:
    return _requested_of(storage, -1)


def _requested_of(storage: Storage, number: int) -> str:
    return split_path(t.completed(storage, "commit", number))[1].partition("_")[0]


def _keep_a_group(storage: Storage) -> None:
    """The clustering does not say that it replaced the groups of one partition."""
    t.change_record(
        storage, t.completed(storage, "replacecommit"), lambda record: record["partitionToReplaceFileIds"].popitem()
    )


def _lose_a_result(storage: Storage) -> None:
    """The compaction stored nothing in one of its groups."""
    removed: list[str] = []

    def change(record):
        removed.append(record["partitionToWriteStats"]["north"].pop()["path"])

    t.change_record(storage, t.completed(storage, "commit"), change)
    storage.delete(removed[0])


def _plan_another_group(storage: Storage) -> None:
    """A pending compaction names a file group that its files do not belong to."""
    path = t.paths(storage, ".compaction.requested")[0]
    t.change_record(storage, path, lambda record: record["operations"][0].update(fileId="0" * 36))


def _keep_an_overwritten_group(storage: Storage) -> None:
    """The overwrite does not say that it replaced the group of its partition."""
    t.change_record(storage, t.completed(storage, "replacecommit"),
                    lambda record: record["partitionToReplaceFileIds"]["north"].clear())  # fmt: skip


def _count_another_insert(storage: Storage) -> None:
    """The last write says that it inserted a row more, which its files do not have."""
    t.change_record(storage, t.completed(storage, "commit"),
                    lambda record: t.stats_of(record)[0].update(numInserts=1))  # fmt: skip


def _indexed() -> Storage:
    """A table with column statistics and a record index."""
    indexes = ("hoodie.metadata.enable", "hoodie.metadata.index.column.stats.enable", "hoodie.metadata.record.index.enable")
    return t.copy_on_write(**dict.fromkeys(indexes, "true"))


#: The definition of a record index with file groups for each partition, without its version.
_PARTITIONED = {
    "indexName": "record_index", "indexType": "record_index", "indexFunction": "", "sourceFields": [],
    "indexOptions": {"isPartitioned": "true"},
}  # fmt: skip


def _in_definitions(change: Callable[[Any], object]) -> Callable[[Storage], None]:
    """Change the definitions of indexes."""

    def edit(storage: Storage) -> None:
        path = t.paths(storage, ".index_defs/index.json")[0]
        document = json.loads(storage.get(path))
        change(document["indexDefinitions"])
        storage.put(path, json.dumps(document).encode())

    return edit


#: The file of the index that tells the source of each bootstrapped file.
BOOTSTRAP_INDEX = f".hoodie/.aux/.bootstrap/.fileids/{'0' * 8}-0000-0000-0000-{'0' * 12}-0_1-0-1_00000000000001.hfile"


def bootstrapped(*numbers: int) -> Storage:
    """A table whose only write was a bootstrap that left the columns of the rows in files outside of the table."""
    table, time = t._new("COPY_ON_WRITE"), "00000000000001"
    table.upsert(t.rows(*(numbers or (1, 2))))
    storage: Storage = table.storage
    first = _requested_of(storage, 0)
    for path in t.paths(storage, first):
        t.move(storage, path, path.replace(first, time))
    for path in t.paths(storage, f"{t.TIMELINE}/", "_", ".commit"):
        t.change_record(storage, path, lambda record: _replace_in_stats(record, first, time))
    for path in t.paths(storage, ".hoodie_partition_metadata"):
        storage.put(path, storage.get(path).replace(first.encode(), time.encode()))
    found = [split_path(path) for path in t.paths(storage, f"_{time}.parquet")]
    keys = [f"part={partition};fileid={name.partition('_')[0]}" for partition, name in found]
    storage.put(BOOTSTRAP_INDEX, _index_of_files(*keys))
    t.change_properties(storage, {"hoodie.bootstrap.base.path": "/source"})
    return storage


def _replace_in_stats(record: Any, old: str, new: str) -> None:
    for stat in t.stats_of(record):
        stat |= {key: value.replace(old, new) for key, value in stat.items() if isinstance(value, str)}


def _index_of_files(*keys: str) -> bytes:
    return encode_hfile(Entry(key.encode(), b"") for key in sorted(keys))


METADATA = ".hoodie/metadata/"


def _change_version_of_metadata_table(storage: Storage) -> None:
    path = f"{METADATA}.hoodie/hoodie.properties"
    version = b"9" if b"hoodie.table.version=8" in storage.get(path) else b"8"
    storage.put(path, re.sub(rb"(?m)^hoodie.table.version=.", b"hoodie.table.version=" + version, storage.get(path)))


def _call_compaction(storage: Storage) -> None:
    path = t.completed(storage, "deltacommit")
    t.change_record(storage, path, lambda record: record.update(operationType="COMPACT"))
    storage.delete(f"{t.TIMELINE}/{split_path(path)[1].partition('_')[0]}.deltacommit.requested")


def _key_metadata_table(storage: Storage) -> None:
    path = f"{METADATA}.hoodie/hoodie.properties"
    text = storage.get(path)
    storage.put(path, text.replace(b"hoodie.table.recordkey.fields=key", b"hoodie.table.recordkey.fields=other"))


def _retime(completion):
    """Give the completed deltacommits other completion times; None keeps one. `completion` gets the names of all."""

    def edit(storage: Storage) -> None:
        found = [path for path in t.paths(storage, f"{t.TIMELINE}/", "_") if path.startswith(t.TIMELINE)]
        names = [split_path(path)[1].removesuffix(".deltacommit").split("_") for path in found]
        for (requested, old), new in zip(names, completion(names), strict=True):
            if new is not None:
                path = f"{t.TIMELINE}/{requested}_{old}.deltacommit"
                t.move(storage, path, path.replace(old, f"{new:017}"))

    return edit


def _add_file_group(storage: Storage) -> None:
    """A file group of the metadata table has a number that leaves others out."""
    path = t.paths(storage, f"{METADATA}files/", "files-0000-0", ".log.")[-1]
    storage.put(path.replace("files-0000-0", "files-0004-0"), storage.get(path))


def _add_file_group_without_number(storage: Storage) -> None:
    """A file group of the metadata table has an id that is not that of an index."""
    path = t.paths(storage, f"{METADATA}files/", "files-0000-0", ".log.")[-1]
    storage.put(path.replace("files-0000-0", "0a1b2c3d-0000-4000-8000-000000000000-0"), storage.get(path))


def _lose_built_partition(storage: Storage) -> None:
    """No write of the metadata table is completed, but its partitions are listed as usable."""
    for path in t.paths(storage, METADATA, "timeline/", ".deltacommit"):
        if path.endswith(".deltacommit"):
            storage.delete(path)


SETTINGS_DAMAGES = (
    Damage("record key that is no column", "settings.columns", "PROP-007", t.copy_on_write,
           _set("hoodie.table.recordkey.fields", "nothing")),
    Damage("no record key without meta columns", "settings.virtual-keys", "PROP-007",
           lambda: t.changed("COPY_ON_WRITE", **{"hoodie.populate.meta.fields": "false"}),
           _set("hoodie.table.recordkey.fields", None), severity="wrong-answers"),
    Damage("ranges of hashes lost", "layout.hash-ranges", "LAY-021", ranges.resized,
           lambda storage: ranges.lose_metadata(storage, "south/"), severity="wrong-answers", says="that a later clustering moved"),
    Damage("another file group of a range", "layout.hash-ranges", "LAY-021", ranges.of_ranges, ranges.name_another_group,
           says="a range for each file group"),
    Damage("ranges of hashes that are cut", "layout.hash-ranges", "LAY-021", ranges.of_ranges,
           lambda storage: t.cut(storage, t.paths(storage, ".hashing_meta")[0], 9), says="no hashing metadata: "),
    Damage("partition field that is no column", "settings.columns", "PROP-008", t.copy_on_write,
           _set("hoodie.table.partition.fields", "nothing")),
    Damage("ordering field that is no column", "settings.columns", "PROP-009", t.copy_on_write,
           _set("hoodie.table.precombine.field", "nothing"), severity="cosmetic"),
    Damage("folders without names of fields", "settings.folders", "LAY-018", t.copy_on_write,
           _set("hoodie.datasource.write.hive_style_partitioning", "true"), says="folders such as city=value"),
    Damage("folders but no partition fields", "settings.folders", "PROP-008", t.copy_on_write,
           lambda s: t.change_properties(s, {"hoodie.table.partition.fields": None})),
    Damage("another format", "settings.formats", "BF-010", t.copy_on_write, _set("hoodie.table.base.file.format", "ORC")),
    Damage("markers of a completed write", "leftovers.markers", "OCC-027", t.copy_on_write,
           lambda s: s.put(f".hoodie/.temp/{_requested(s)}/north/a.parquet.marker.CREATE", b"")),
    Damage("heartbeat of a completed write", "leftovers.heartbeats", "OCC-027", t.copy_on_write,
           lambda s: s.put(f".hoodie/.heartbeat/{_requested(s)}", b"")),
    Damage("temporary manifest", "leftovers.temporary-files", "LAY-017", t.archived,
           lambda s: s.put(".hoodie/timeline/history/manifest_9.tmp", b"{")),
    Damage("a copy that a program numbered", "leftovers.temporary-files", "LAY-017", t.copy_on_write,
           lambda s: s.put(f"{t.completed(s, 'commit')} (1)", b"x")),
    Damage("temporary file", "leftovers.temporary-files", "LAY-017", t.copy_on_write,
           lambda s: s.put(t.completed(s, "commit") + ".tmp", b"x")),
    Damage("groups that a clustering kept", "results.clusterings", "CLU-001", t.clustered, _keep_a_group),
    Damage("no result of a compaction", "results.compactions", "CMP-001", t.compacted, _lose_a_result),
    Damage("a completed plan of another base file", "results.plan-entries", "TL-015", t.compacted,
           lambda s: t.change_record(s, t.paths(s, ".compaction.requested")[0],
                                     lambda plan: plan["operations"][0].update(baseInstantTime="20260101000000000")),
           ("CMP-003",), severity="cosmetic", says="of a completed service"),
    Damage("a plan of another file group", "results.plan-entries", "TL-015", lambda: t.with_plan("compaction"),
           _plan_another_group),
    Damage("a file group that an overwrite kept", "results.replaced-groups", "TL-039", t.overwritten,
           _keep_an_overwritten_group),
    Damage("a row that was inserted is not there", "results.row-counts", "TL-005", t.copy_on_write, _count_another_insert, severity="data-lost"),
    Damage("a write that a clean saw completed", "traces.seen-completed", "TL-052", t.cleaned,
           lambda s: s.delete(t.completed(s, "commit")), ("TL-030",)),
    Damage("a write that the plan of a clustering read", "traces.seen-completed", "TL-052", lambda: t.with_plan("clustering"),
           lambda s: s.delete(t.completed(s, "commit")), ("TL-030", "OCC-008", "TL-036", "CLU-003")),
    Damage("no ordering field", "settings.event-time", "MRG-034", t.merge_on_read,
           _set("hoodie.record.merge.mode", "EVENT_TIME_ORDERING"), ("MRG-021",)),
    Damage("a write without its requested file that calls itself a compaction", "actions.services", "TL-044", t.merge_on_read,
           _call_compaction, ("TL-048",)),
    Damage("no ordering field of an earlier slice", "settings.event-time", "MRG-034", t.compacted,
           _set("hoodie.record.merge.mode", "EVENT_TIME_ORDERING"), ("MRG-021",)),
    Damage("a write that calls itself a compaction", "actions.services", "TL-044", t.merge_on_read,
           lambda s: t.change_record(s, t.completed(s, "deltacommit"), lambda record: record.update(operationType="COMPACT")),
           says="a commit of the operation COMPACT"),
    Damage("an empty plan of a clustering", "actions.lost-plans", "TL-012", lambda: t.with_plan("clustering"),
           lambda s: s.put(t.paths(s, ".clustering.requested")[0], b"")),
    Damage("a metadata table of another version", "metadata.version", "COMPAT-009", t.with_metadata_table,
           _change_version_of_metadata_table),
    Damage("a definition of a later table version", "metadata.definitions", "COMPAT-010", _indexed,
           _in_definitions(lambda known: known["column_stats"].update(version="V2")), says="V1, which tables of version 8 have"),
    Damage("a record index that is said to be partitioned", "metadata.definitions", "IDX-047", _indexed,
           _in_definitions(lambda known: known.update(record_index=_PARTITIONED))),
    Damage("an index that no action builds", "metadata.never-built", "PROP-012", t.with_metadata_table,
           _set("hoodie.table.metadata.partitions.inflight", "expr_index_x"), severity="cosmetic"),
    Damage("file groups of an index lost", "metadata.file-groups", "IDX-010", t.with_metadata_table, _add_file_group,
           ("LF-007", "MDT-008")),
    Damage("no file group of an index", "metadata.file-groups", "IDX-010", t.with_metadata_table, _lose_built_partition,
           ("TL-036", "MDT-002", "MDT-007", "MDT-008", "TL-030", "LF-007", "RDR-008", "OCC-008")),
    Damage("a file group of an index without a number", "metadata.file-groups", "IDX-010", t.with_metadata_table,
           _add_file_group_without_number, ("LF-007", "MDT-008"), "cosmetic"),
    Damage("completed after the write that was based on it", "times.after-what-was-read", "TT-004", t.copy_on_write,
           lambda s: t.move(s, t.completed(s, "commit", 0), f"{t.TIMELINE}/{_requested_of(s, 0)}_20991231000000000.commit"),
           ("TT-005",)),
    Damage("completed before its update of the metadata table", "times.after-its-update", "TL-032", t.with_metadata_table,
           _retime(lambda names: [None, None, int(names[2][0]) + 1])),
    Damage("completed after a later update of the metadata table", "times.in-order-of-updates", "OCC-022",
           t.with_metadata_table, _retime(lambda names: [None, int(names[2][1]) + 1, None])),
    Damage("a deletion of no partitions", "results.deleted-partitions", "TL-039", t.deleted_partition,
           lambda s: t.change_record(s, t.completed(s, "replacecommit"),
                                     lambda record: record.update(partitionToReplaceFileIds={}))),
    Damage("another mode than that of the class", "properties.made-merging", "PROP-025", t.of_version_9,
           _set("hoodie.table.legacy.payload.class", "org.apache.hudi.common.model.DefaultHoodieRecordPayload")),
    Damage("another mode than that of the strategy", "properties.made-merging", "MRG-021", t.of_version_9,
           _set("hoodie.record.merge.strategy.id", "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5")),
    Damage("another mode than that of the payload class", "properties.made-merging", "MRG-021", t.of_version_9,
           _set("hoodie.compaction.payload.class", "org.apache.hudi.common.model.DefaultHoodieRecordPayload"),
           says="hoodie.compaction.payload.class"),
    Damage("a class without its delete marker", "properties.made-merging", "PROP-025", t.of_version_9,
           _set("hoodie.table.legacy.payload.class", "org.apache.hudi.common.model.AWSDmsAvroPayload")),
    Damage("a write requested as a compaction", "actions.planned-as", "TL-044", t.compacted,
           lambda s: t.change_record(s, t.completed(s, "commit"), lambda record: record.update(operationType="UPSERT")), ("TYP-011",),
           says="the operation COMPACT"),
    Damage("partition columns that are said to be dropped", "settings.dropped-columns", "LAY-018", t.copy_on_write,
           _set("hoodie.datasource.write.drop.partition.columns", "true")),
    Damage("a metadata table with other keys", "metadata.settings", "MDT-002", t.with_metadata_table, _key_metadata_table),
    Damage("an index that no property lists", "metadata.left-over-indexes", "PROP-013", t.with_metadata_table,
           lambda s: s.put(f"{METADATA}column_stats/col-stats-0000-0_0-0-0_00000000000000000.hfile", b"x")),
    Damage("two key fields of a simple generator", "properties.key-generator", "PROP-001", t.copy_on_write,
           lambda s: t.change_properties(s, {"hoodie.table.keygenerator.type": "SIMPLE",
                                             "hoodie.table.recordkey.fields": "id,fare"}), says="such as COMPLEX"),
    Damage("a partition metadata file that was not renamed", "layout.temporary-files", "LAY-019", t.copy_on_write,
           lambda s: s.put("north/.hoodie_partition_metadata_0", b"#partition metadata\n"), severity="lost-space"),
    Damage("a temporary base file", "layout.temporary-files", "LAY-019", t.copy_on_write,
           lambda s: s.put("north/.hoodie_tmp_1.parquet", b"PAR1"), severity="lost-space"),
    Damage("a bootstrapped file without an index", "base-files.bootstrapped", "LAY-001", bootstrapped,
           lambda s: s.delete(BOOTSTRAP_INDEX), says=".hoodie/.aux/.bootstrap/.fileids"),
    Damage("a bootstrapped file that the index lacks", "base-files.bootstrapped", "LAY-001", bootstrapped,
           lambda s: s.put(BOOTSTRAP_INDEX, _index_of_files("part=south;fileid=0"))),
    Damage("a damaged index of bootstrapped files", "base-files.bootstrapped", "LAY-001", bootstrapped,
           lambda s: t.cut(s, BOOTSTRAP_INDEX, 9)),
    Damage("no folder of the bootstrapped files", "base-files.bootstrapped", "LAY-001", bootstrapped,
           _set("hoodie.bootstrap.base.path", None), says="hoodie.bootstrap.base.path, as"),
    Damage("an index of bootstrapped files that is switched off", "base-files.bootstrapped", "LAY-001", bootstrapped,
           _set("hoodie.bootstrap.index.enable", "false"), says="hoodie.bootstrap.index.enable, as"),
    Damage("no requested file", "timeline.pairs", "TL-048", t.copy_on_write,
           lambda s: s.delete(f"{t.TIMELINE}/{_requested(s)}.commit.requested")),
)  # fmt: skip
