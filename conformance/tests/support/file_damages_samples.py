"""Damages of data files and of the metadata table."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import validated_tables_samples as t
from consistent_hashing_samples import named_by_slice, written
from damages_samples import Damage

from hudi_reference.files.log.block import HeaderKey, encode_block
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import BaseFileName, join_path, parse_data_file_name, split_path
from hudi_reference.storage import Storage
from hudi_reference.timeline.instants.instant import parse_instant_name


def _name(path: str) -> BaseFileName:
    found = parse_data_file_name(split_path(path)[1])
    assert isinstance(found, BaseFileName)
    return found


def _copy(storage: Storage, path: str, **parts: str) -> str:
    """Copy a base file to a name with other parts."""
    name = _name(path)
    target = join_path(split_path(path)[0], str(BaseFileName(**{**vars(name), **parts})))
    storage.put(target, storage.get(path))
    return target


def _lose_savepointed(storage: Storage) -> None:
    found: list[str] = []
    path = t.completed(storage, "savepoint")
    t.change_record(storage, path, lambda record: found.extend(
        join_path(partition, name) for partition, files in record["partitionMetadata"].items()
        for name in files["savepointDataFile"]))  # fmt: skip
    storage.delete(found[0])


def _lose_first_write(storage: Storage) -> None:
    """The first write of a merge-on-read table, with its base files."""
    t.lose_action(storage, split_path(t.completed(storage, "deltacommit", 0))[1].partition("_")[0])
    names = {_name(path).file_id: split_path(path)[1] for path in t.base_files(storage)}

    def based(record):
        for stat in t.stats_of(record):
            stat["baseFile"] = names[stat["fileId"]]

    t.change_record(storage, t.completed(storage, "deltacommit"), based)
    for path in t.base_files(storage):
        storage.delete(path)


def _one_file_id(storage: Storage) -> None:
    """The file groups of both partitions get one id, in names and metadata."""
    north, south = (path for path in t.base_files(storage)[-2:])
    old, new = _name(south).file_id, _name(north).file_id
    for path in [path for path in t.base_files(storage) if _name(path).file_id == old]:
        t.move(storage, path, path.replace(old, new))

    def change(record):
        for stat in t.stats_of(record):
            stat["path"], stat["fileId"] = stat["path"].replace(old, new), stat["fileId"].replace(old, new)

    for number in range(3):
        t.change_record(storage, t.completed(storage, "commit", number), change)


PRESENCE = (
    Damage("lost base file", "presence.named-files", "TL-036", t.copy_on_write, lambda s: s.delete(t.base_files(s)[-1]),
           says="Queries of the latest state"),
    Damage("lost older base file", "presence.named-files", "TL-036", t.copy_on_write, lambda s: s.delete(t.base_files(s)[0]),
           says="the latest state is whole"),
    Damage("lost log file", "presence.named-files", "TL-036", t.merge_on_read, lambda s: s.delete(t.log_files(s)[0])),
    Damage("lost file of an archived write", "presence.named-files", "TL-036", t.archived,
           lambda s: t.reopened(s) and s.delete(t.base_files(s)[-1])),
    Damage("longer base file", "presence.sizes", "TL-005", t.copy_on_write,
           lambda s: s.put(t.base_files(s)[-1], s.get(t.base_files(s)[-1]) + b"PAR1"), ("BF-002",)),
    Damage("shorter log file", "presence.sizes", "TL-005", t.merge_on_read, lambda s: t.cut(s, t.log_files(s)[-1], 3),
           ("BLK-015",), severity="data-lost"),
    Damage("lost savepointed file", "presence.savepoints", "TL-021", t.cleaned, _lose_savepointed, ("TL-036",), severity="data-lost"),
    Damage("savepoint without its write", "presence.savepoints", "TL-041", t.cleaned,
           lambda s: s.delete(t.completed(s, "commit", 0)), ("TL-030", "OCC-008", "TL-036")),
    Damage("lost planned file", "presence.planned-files", "CLN-002", lambda: t.with_plan("compaction"),
           lambda s: s.delete(t.log_files(s)[0]), ("TL-036",)),
    Damage("slice without its base file", "presence.base-files", "LAY-023", t.merge_on_read, _lose_first_write,
           ("OCC-008",)),
)  # fmt: skip


def _clean_in_words(storage: Storage) -> None:
    """The clean says that it deleted a file that is there."""
    partition, name = split_path(_unneeded(storage))

    def change(record):
        record["partitionMetadata"][partition]["deletePathPatterns"].append(name)

    t.change_record(storage, t.completed(storage, "clean"), change)


def _unname(storage: Storage) -> None:
    """The metadata of the last write names no file of one of its partitions."""
    t.change_record(storage, t.completed(storage, "commit"), lambda record: record["partitionToWriteStats"].pop("north"))


def _unneeded(storage: Storage) -> str:
    """A base file of an older slice."""
    return t.base_files(storage)[0]


OWNERS = (
    Damage("file of a failed attempt", "owners.data-files", "BF-007", t.copy_on_write,
           lambda s: _copy(s, t.base_files(s)[-1], write_token="9-9-9"), severity="lost-space"),
    Damage("file that its write does not name any more", "owners.data-files", "TL-007", t.copy_on_write, _unname, severity="data-lost"),
    Damage("file of no action", "owners.data-files", "RDR-008", t.copy_on_write,
           lambda s: _copy(s, t.base_files(s)[-1], instant="20991231000000000"), severity="lost-space",
           says="unless another finding shows"),
    Damage("file of no action in a new group", "owners.data-files", "ARC-004", t.archived,
           lambda s: _copy(s, t.base_files(s)[-1], instant="20200101000000000", file_id="new-0"),
           says="restore timeline or history"),
    Damage("cleaned file", "owners.data-files", "TL-013", t.cleaned,
           _clean_in_words, ("TL-035",), severity="lost-space"),
    Damage("one id in two partitions", "owners.file-ids", "LAY-020", t.copy_on_write, _one_file_id),
)  # fmt: skip


def _last_metadata_write(storage: Storage) -> str:
    return t.paths(storage, ".hoodie/metadata/.hoodie/timeline/", "_", ".deltacommit")[-1]


def _lose_last_write(storage: Storage) -> None:
    path = t.completed(storage, "deltacommit")
    instant = parse_instant_name(split_path(path)[1])
    assert instant is not None
    t.lose_action(storage, instant.requested)


def _damage_records(storage: Storage) -> None:
    path = t.paths(storage, ".hoodie/metadata/files/", ".log.")[-1]
    t.flip(storage, path, storage.get(path).index(b"DATABLK*") + 40)


METADATA = (
    Damage("a file that is not listed", "metadata.files", "MDT-008", t.with_metadata_table,
           lambda s: s.delete(_last_metadata_write(s)), ("TL-030",)),
    Damage("a listed file that is gone", "metadata.files", "MDT-008", t.with_metadata_table,
           lambda s: s.delete(t.log_files(s)[-1]), ("TL-036",), says="fail, or read rows that those who list folders do not read"),
    Damage("another size", "metadata.files", "MDT-013", t.with_metadata_table,
           lambda s: s.put(t.log_files(s)[-1], s.get(t.log_files(s)[-1]) + b"xx"), ("TL-005", "LF-025")),
    Damage("damaged records", "metadata.files", "BF-002", t.with_metadata_table,
           _damage_records),
    Damage("lost records", "metadata.files", "MDT-008", t.with_metadata_table,
           lambda s: s.put(t.paths(s, ".hoodie/metadata/files/", ".log.")[-1], b""), ("TL-005",)),
    Damage("a cut block", "metadata.files", "BLK-015", t.with_metadata_table,
           lambda s: t.cut(s, t.paths(s, ".hoodie/metadata/files/", ".log.")[-1], 20), ("TL-005",)),
    Damage("a lost action", "metadata.timeline", "MDT-001", t.with_metadata_table, _lose_last_write, ("RDR-008", "MDT-008")),
)  # fmt: skip


def _other_rows(change):
    """Change the rows of the last base file, and the size in its commit."""

    def edit(storage: Storage) -> None:
        path, out = t.base_files(storage)[-1], io.BytesIO()
        pq.write_table(change(pq.read_table(io.BytesIO(storage.get(path)))), out)
        storage.put(path, out.getvalue())

        def resize(record):
            for stat in t.stats_of(record):
                if stat["path"] == path:
                    stat["fileSizeInBytes"] = len(out.getvalue())

        t.change_record(storage, t.completed(storage, "commit"), resize)

    return edit


def _as_binary(rows: pa.Table) -> pa.Table:
    at = rows.schema.get_field_index("fare")
    return rows.set_column(at, "fare", pa.array([b"x"] * len(rows)))


def _hfile(storage: Storage) -> str:
    return t.paths(storage, ".hoodie/metadata/files/", ".hfile")[0]


def _append_to_earlier(storage: Storage) -> None:
    """The last write appended its blocks to the log files of the write before; its metadata has lost one of them."""
    for earlier, last in zip(t.log_files(storage)[:2], t.log_files(storage)[2:], strict=True):
        storage.put(earlier, storage.get(earlier) + storage.get(last))
        storage.delete(last)
    sizes = {split_path(path)[0]: (path, len(storage.get(path))) for path in t.log_files(storage)}

    def change(record):
        del record["partitionToWriteStats"]["north"]
        for stat in t.stats_of(record):
            path, size = sizes[stat["partitionPath"]]
            stat.update(path=path, fileSizeInBytes=size, logOffset=size // 2)

    t.change_record(storage, t.completed(storage, "deltacommit"), change)


def _of_another_write(storage: Storage) -> None:
    """The block of a file has the instant of another write, which wrote no such file."""
    path, earlier = t.log_files(storage)[-1], t.log_files(storage)[0]
    old, new = (split_path(one)[1].split("_")[1].partition(".")[0].encode() for one in (path, earlier))
    storage.put(path, storage.get(path).replace(old, new))


def _mark(storage: Storage) -> None:
    """The block of a log file has a mark that is neither true nor false."""
    path = t.log_files(storage)[-1]
    (block,) = read_log_file(storage, path)
    whole = encode_block(block.kind, {**block.header, HeaderKey.IS_PARTIAL: "some"}, bytes(block.content))
    storage.put(path, whole)

    def resize(record):
        for stat in t.stats_of(record):
            if stat["path"] == path:
                stat["fileSizeInBytes"] = len(whole)

    t.change_record(storage, t.completed(storage, "deltacommit"), resize)


CONTENTS = (
    Damage("log files merged in another order", "log-files.names", "LF-004", lambda: written(()),
           lambda s: named_by_slice(s, "7-2-3"), severity="wrong-answers"),
    Damage("an unknown mark", "log-files.blocks", "LF-045", t.merge_on_read, _mark),
    Damage("a block that its write does not name", "log-files.blocks", "TL-007", t.merge_on_read, _append_to_earlier,
           ("TL-005",), severity="data-lost"),
    Damage("a block twice", "log-files.blocks", "TL-005", t.merge_on_read,
           lambda s: s.put(t.log_files(s)[-1], s.get(t.log_files(s)[-1]) * 2)),
    Damage("a block of another write", "log-files.blocks", "LF-035", t.merge_on_read, _of_another_write),
    Damage("a wrong magic", "log-files.blocks", "LF-012", t.merge_on_read, lambda s: t.flip(s, t.log_files(s)[-1], 2), severity="data-lost"),
    Damage("a wrong length", "log-files.blocks", "BLK-015", t.merge_on_read, lambda s: t.flip(s, t.log_files(s)[-1], 13), severity="data-lost"),
    Damage("a wrong trailer", "log-files.blocks", "BLK-015", t.merge_on_read, lambda s: t.flip(s, t.log_files(s)[-1], -1), severity="data-lost"),
    Damage("an unknown version", "log-files.blocks", "LF-027", t.merge_on_read, lambda s: t.flip(s, t.log_files(s)[-1], 17)),
    Damage("an unknown type", "log-files.blocks", "LF-015", t.merge_on_read, lambda s: t.flip(s, t.log_files(s)[-1], 21)),
    Damage("a wrong footer", "base-files.footers", "BF-002", t.copy_on_write, lambda s: t.flip(s, t.base_files(s)[-1], -1), severity="data-lost"),
    Damage("another type", "base-files.footers", "LF-038", t.copy_on_write, _other_rows(_as_binary)),
    Damage("fewer rows", "base-files.footers", "TL-007", t.copy_on_write, _other_rows(lambda rows: rows.slice(1)),
           severity="data-lost"),
    Damage("more rows", "base-files.footers", "TL-007", t.copy_on_write,
           _other_rows(lambda rows: pa.concat_tables([rows, rows])), severity="cosmetic"),
    Damage("a damaged HFile block", "base-files.footers", "BF-002", t.with_metadata_table, lambda s: t.flip(s, _hfile(s), 40),
           ("MDT-002",)),
)  # fmt: skip

FILE_DAMAGES = (*PRESENCE, *OWNERS, *METADATA, *CONTENTS)
