"""Damages of properties, folders, timeline, contents of actions, and history."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import validated_tables_samples as t
from damages_samples import Damage

from hudi_reference import archive, clean
from hudi_reference.layout.names import split_path
from hudi_reference.layout.properties import BACKUP_PATH, PROPERTIES_PATH
from hudi_reference.storage import Storage
from hudi_reference.timeline.contents.actions import write_action
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State


def _set(key: str, value: str | None, *, checksum: bool = True):
    return lambda storage: t.change_properties(storage, {key: value}, checksum=checksum)


def _lose_settings(storage: Storage) -> None:
    storage.put(BACKUP_PATH, storage.get(PROPERTIES_PATH))
    t.change_properties(storage, {"hoodie.table.partition.fields": None, "hoodie.populate.meta.fields": None})
    t.change_properties(storage, {"hoodie.table.create.schema": None})


PROPERTIES = (
    Damage("no file", "properties.file", "LAY-013", t.copy_on_write, lambda s: s.delete(PROPERTIES_PATH),
           says="neither the file nor"),
    Damage("fewer entries than the backup", "properties.file", "PROP-011", t.copy_on_write, _lose_settings,
           says="the checksum does not show the loss"),
    Damage("half an escape", "properties.file", "PROP-011", t.copy_on_write, lambda s: s.put(PROPERTIES_PATH, b"a=\\u12\n")),
    Damage("cut", "properties.ending", "PROP-011", t.copy_on_write, lambda s: t.cut(s, PROPERTIES_PATH, 1)),
    Damage("empty", "properties.mandatory", "PROP-004", t.copy_on_write, lambda s: s.put(PROPERTIES_PATH, b""),
           ("PROP-005", "PROP-006", "PROP-010")),
    Damage("checksum", "properties.checksum", "PROP-011", t.copy_on_write, _set("hoodie.table.checksum", "1", checksum=False)),
    Damage("no type", "properties.mandatory", "PROP-005", t.copy_on_write, _set("hoodie.table.type", None)),
    Damage("no version", "properties.mandatory", "PROP-006", t.copy_on_write, _set("hoodie.table.version", None)),
    Damage("unknown type", "properties.values", "PROP-005", t.copy_on_write, _set("hoodie.table.type", "MERGE_ON_MOON")),
    Damage("unknown zone", "properties.values", "PROP-001", t.copy_on_write, _set("hoodie.table.timeline.timezone", "X")),
    Damage("version no number", "properties.values", "PROP-006", t.copy_on_write, _set("hoodie.table.version", "EIGHT")),
    Damage("version 99", "properties.versions", "COMPAT-004", t.copy_on_write, _set("hoodie.table.version", "99"),
           says="call downgrade_table"),
    Damage("version 5", "properties.versions", "COMPAT-002", t.copy_on_write, _set("hoodie.table.version", "5"),
           says="call upgrade_table"),
    Damage("layout 1", "properties.versions", "PROP-010", t.copy_on_write, _set("hoodie.timeline.layout.version", "1")),
    Damage("mode against strategy", "properties.merging", "MRG-021", t.copy_on_write,
           _set("hoodie.record.merge.mode", "EVENT_TIME_ORDERING"), ("MRG-034",)),
    Damage("marker without column", "properties.merging", "MRG-014", t.copy_on_write, _set("hoodie.payload.delete.marker", "D")),
    Damage("key generators", "properties.key-generator", "PROP-001", t.copy_on_write,
           lambda s: t.change_properties(s, {"hoodie.table.keygenerator.type": "SIMPLE",
                                             "hoodie.table.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator"})),
    Damage("schema of the creation", "properties.create-schema", "LF-038", t.copy_on_write,
           _set("hoodie.table.create.schema", "{")),
    Damage("unbuilt index", "properties.metadata-lists", "PROP-012", t.with_metadata_table,
           _set("hoodie.table.metadata.partitions", "files,column_stats"), says="skip files that have matching rows"),
    Damage("index without the listing", "properties.metadata-lists", "PROP-012", t.with_metadata_table,
           lambda s: (t.change_properties(s, {"hoodie.table.metadata.partitions": "column_stats"}),
                      s.put(".hoodie/metadata/column_stats/.hoodie_partition_metadata", b"")), ("PROP-013",)),
    Damage("in both lists", "properties.metadata-lists", "PROP-012", t.with_metadata_table,
           _set("hoodie.table.metadata.partitions.inflight", "files")),
)  # fmt: skip


def _to_old_layout(storage: Storage) -> None:
    path = t.completed(storage, "commit")
    requested = split_path(path)[1].partition("_")[0]
    t.move(storage, path, f".hoodie/{requested}.commit")
    for pending in t.paths(storage, f"{t.TIMELINE}/{requested}."):
        storage.delete(pending)


def _leave_in_the_old_layout(storage: Storage) -> None:
    """A migration was interrupted before it deleted the instant of the old layout, which it had converted."""
    requested = split_path(t.completed(storage, "commit"))[1].partition("_")[0]
    storage.put(f".hoodie/{requested}.commit", b"{}")


def _lose_the_timeline(storage: Storage) -> None:
    for info in storage.list(t.TIMELINE):
        storage.delete(info.path)


def _rename(suffix: str, target: str, number: int = -1):
    return lambda storage: t.move(storage, t.paths(storage, suffix)[number], target)


LAYOUT = (
    Damage("instant of the old layout", "layout.one-layout", "COMPAT-006", t.copy_on_write, _to_old_layout, ("RDR-008",), "data-lost",
           says="rows of the action are missing"),
    Damage("an instant in both layouts", "layout.one-layout", "COMPAT-006", t.copy_on_write, _leave_in_the_old_layout, (),
           "cosmetic", says="writers refuse the table"),
    Damage("no timeline", "layout.timeline-folder", "LAY-017", t.copy_on_write, _lose_the_timeline, ("RDR-008",), "data-lost"),
    Damage("completed file in a partition", "layout.moved-actions", "LAY-017", t.copy_on_write,
           lambda s: t.move(s, t.completed(s, "commit"), f"north/{split_path(t.completed(s, 'commit'))[1]}"), ("TL-030",)),
    Damage("no partition metadata", "layout.partition-metadata", "LAY-003", t.copy_on_write,
           lambda s: s.delete("north/.hoodie_partition_metadata"), severity="wrong-answers"),
    Damage("no partition metadata beside a metadata table", "layout.partition-metadata", "LAY-003", t.with_metadata_table,
           lambda s: s.delete("north/.hoodie_partition_metadata"), severity="cosmetic"),
    Damage("wrong depth", "layout.partition-metadata", "LAY-003", t.copy_on_write,
           lambda s: s.put("north/.hoodie_partition_metadata", b"commitTime=1\npartitionDepth=7\n")),
    Damage("wrong depth without files", "layout.partition-metadata", "LAY-003", t.copy_on_write,
           lambda s: s.put("east/.hoodie_partition_metadata", b"commitTime=1\npartitionDepth=7\n")),
    Damage("made later", "layout.partition-metadata", "LAY-003", t.copy_on_write,
           lambda s: s.put("north/.hoodie_partition_metadata", b"commitTime=20990101000000000\npartitionDepth=1\n")),
    Damage("a file of another program", "layout.other-files", "RDR-008", t.copy_on_write,
           lambda s: s.put("north/notes.txt", b"notes")),
    Damage("renamed data file", "layout.names", "BF-003", t.copy_on_write,
           lambda s: t.move(s, t.base_files(s)[-1], "north/part-1.parquet"), ("TL-036",), says="<instant>.<extension>"),
    Damage("renamed log file", "layout.names", "LF-002", t.merge_on_read,
           lambda s: t.move(s, t.log_files(s)[-1], "north/.x.log.1.bak"), ("TL-036",), says=".log.<version>"),
    Damage("no definitions", "layout.index-definitions", "LAY-016", t.with_metadata_table,
           lambda s: t.change_properties(s, {"hoodie.table.index.defs.path": ".hoodie/.index_defs/index.json",
                                             "hoodie.table.metadata.partitions": "files,expr_index_x"}), ("PROP-012",)),
    Damage("definitions elsewhere", "layout.index-definitions", "PROP-014", t.with_metadata_table,
           _set("hoodie.table.index.defs.path", "../index.json")),
)  # fmt: skip


def _retime(action: str, number: int, completion: str):
    """Give a completed action another completion time; `{}` in it is its requested time."""

    def edit(storage: Storage) -> None:
        path = t.completed(storage, action, number)
        requested = split_path(path)[1].partition("_")[0]
        t.move(storage, path, f"{t.TIMELINE}/{requested}_{completion.format(requested)}.{action}")

    return edit


def _share_completion(storage: Storage) -> None:
    last = split_path(t.completed(storage, "commit"))[1].partition("_")[2].partition(".")[0]
    _retime("commit", -2, last)(storage)


def _complete_again(storage: Storage) -> None:
    path = t.completed(storage, "commit", 0)
    requested = split_path(path)[1].partition("_")[0]
    again = f"{t.TIMELINE}/{requested}_{int(requested) + 99:017}.commit"
    storage.put(again, storage.get(path))
    t.change_record(storage, again, lambda record: record.update(operationType="BULK_INSERT"))


def _lose_plan(storage: Storage) -> None:
    (plan,) = t.paths(storage, ".compaction.requested")
    storage.delete(plan)
    storage.put(plan.replace("requested", "inflight"), b"")


def _second_action(storage: Storage) -> None:
    requested = split_path(t.completed(storage, "commit"))[1].partition("_")[0]
    storage.put(f"{t.TIMELINE}/{requested}.deltacommit.requested", b"")


TIMELINE = (
    Damage("completed before it was requested", "timeline.names", "TL-004", t.copy_on_write,
           _retime("commit", -1, "20200101000000000")),
    Damage("no completion time", "timeline.names", "TL-031", t.copy_on_write,
           lambda s: t.move(s, t.completed(s, "commit"), t.completed(s, "commit").partition("_")[0] + ".commit")),
    Damage("thirteen digits", "timeline.names", "TL-027", t.copy_on_write,
           lambda s: s.put(f"{t.TIMELINE}/2026010100000.commit.requested", b"")),
    Damage("unknown action", "timeline.actions", "TL-037", t.copy_on_write,
           lambda s: t.move(s, t.completed(s, "commit"), t.completed(s, "commit") + "x"), ("TL-030",),
           says="so that the rows of its files are missing"),
    Damage("inflight without plan", "timeline.states", "TL-048", lambda: t.with_plan("compaction"), _lose_plan,
           says="The plan is lost"),
    Damage("completed twice", "timeline.completed-once", "TL-052", t.copy_on_write, _complete_again, says="Readers differ"),
    Damage("two actions of one time", "timeline.one-action-for-a-time", "TL-034", t.copy_on_write, _second_action,
           ("TL-038", "TL-036")),
    Damage("two writes of one completion", "timeline.completion-times", "TT-003", t.copy_on_write, _share_completion),
    Damage("log files on copy-on-write", "timeline.table-type", "TL-038", t.merge_on_read,
           _set("hoodie.table.type", "COPY_ON_WRITE"), ("TYP-002",)),
)  # fmt: skip


def _swap(storage: Storage) -> None:
    first, second = t.completed(storage, "commit", 0), t.completed(storage, "commit", 1)
    one, other = storage.get(first), storage.get(second)
    storage.put(first, other)
    storage.put(second, one)


def _other_partition(storage: Storage) -> None:
    def change(record):
        stats = record["partitionToWriteStats"]
        stats["west"] = stats.pop("north")

    t.change_record(storage, t.completed(storage, "commit"), change)


def _without_information(storage: Storage) -> None:
    """The last write has a file whose metadata says nothing, and no data files."""
    path = t.completed(storage, "deltacommit")
    storage.delete(t.log_files(storage)[-1])
    storage.delete(t.log_files(storage)[-1])
    t.change_record(storage, path, lambda record: record.update(partitionToWriteStats={}, extraMetadata={}))


def _without_paths(storage: Storage) -> None:
    def change(record):
        for stat in t.stats_of(record):
            stat["path"] = None

    path = t.completed(storage, "commit")
    for stat_path in t.base_files(storage)[-2:]:
        storage.delete(stat_path)
    t.change_record(storage, path, change)


def _add_earlier_file(storage: Storage) -> None:
    """The last write names a file of the first one, too."""
    earlier = []
    t.change_record(storage, t.completed(storage, "commit", 0), lambda record: earlier.extend(t.stats_of(record)[:1]))
    t.change_record(storage, t.completed(storage, "commit"),
                    lambda record: record["partitionToWriteStats"][earlier[0]["partitionPath"]].append(earlier[0]))  # fmt: skip


def _in(action: str, key: str, value: object):
    return lambda storage: t.change_record(storage, t.completed(storage, action), lambda record: record.update({key: value}))


def _another_plan(storage: Storage) -> None:
    (plan,) = t.paths(storage, ".clean.requested")
    storage.put(plan.replace("requested", "inflight"), storage.get(plan))
    t.change_record(storage, plan.replace("requested", "inflight"),
                    lambda record: record.update(filePathsToBeDeletedPerPartition={}))  # fmt: skip


ACTIONS = (
    Damage("cut metadata", "actions.readable", "TL-002", t.copy_on_write, lambda s: t.cut(s, t.completed(s, "commit"), 40)),
    Damage("empty metadata", "actions.readable", "TL-002", t.copy_on_write, lambda s: s.put(t.completed(s, "commit"), b"")),
    Damage("record of a clean", "actions.readable", "TL-002", t.cleaned,
           lambda s: s.put(t.completed(s, "commit"), s.get(t.completed(s, "clean"))), ("TL-021", "TL-041")),
    Damage("cut plan", "actions.readable", "TL-002", lambda: t.with_plan("compaction"),
           lambda s: t.cut(s, t.paths(s, ".compaction.requested")[0], 9)),
    Damage("swapped metadata", "actions.own-files", "BF-009", t.copy_on_write, _swap),
    Damage("another partition", "actions.own-files", "LAY-018", t.copy_on_write, _other_partition),
    Damage("no information", "actions.fit-together", "TL-007", t.merge_on_read, _without_information),
    Damage("rows without a path", "actions.fit-together", "TL-007", t.copy_on_write, _without_paths),
    Damage("one span in two writes", "actions.fit-together", "TL-005", t.copy_on_write, _add_earlier_file, ("BF-009",)),
    Damage("a base file of a pending write", "actions.fit-together", "TL-036", t.copy_on_write,
           lambda s: s.delete(t.completed(s, "commit", 1)), ("OCC-008", "TL-030")),
    Damage("an overwrite as commit", "actions.operations", "TL-039", t.copy_on_write,
           _in("commit", "operationType", "INSERT_OVERWRITE")),
    Damage("metadata of another clean", "actions.own-times", "TL-034", t.cleaned, _in("clean", "startCleanTime", "20200101000000000")),
    Damage("no schema", "actions.schemas", "LF-038", t.copy_on_write, _in("commit", "extraMetadata", {"schema": "{"})),
    Damage("a changed plan", "actions.plans", "TL-035", lambda: t.with_plan("clean"), _another_plan),
)  # fmt: skip


def _level_file(storage: Storage) -> str:
    return t.paths(storage, "history/", ".parquet")[0]


def _replace_level_file(storage: Storage, name: str, rows: pa.Table) -> None:
    """Store rows under a name, and list the file in the manifest."""
    out = io.BytesIO()
    pq.write_table(rows, out)
    storage.delete(_level_file(storage))
    storage.put(f"{t.TIMELINE}/history/{name}", out.getvalue())
    path, manifest = t.manifest_of(storage)
    manifest["files"] = [{"fileName": name, "fileLen": len(out.getvalue())}]
    storage.put(path, json.dumps(manifest).encode())


def _history_rows(storage: Storage) -> pa.Table:
    return pq.read_table(io.BytesIO(storage.get(_level_file(storage))))


def _rename_level_file(minimum: str | None, maximum: str | None):
    def edit(storage: Storage) -> None:
        first, last, level = split_path(_level_file(storage))[1].split("_")
        _replace_level_file(storage, f"{minimum or first}_{maximum or last}_{level}", _history_rows(storage))

    return edit


def edit_history(change):
    """Change the rows of the level file."""
    return lambda storage: _replace_level_file(storage, split_path(_level_file(storage))[1], change(_history_rows(storage)))


def _junk_metadata(rows: pa.Table) -> pa.Table:
    at = rows.schema.get_field_index("metadata")
    return rows.set_column(at, rows.schema.field(at), [[b"junk", *rows.column("metadata").to_pylist()[1:]]])


def _archived_time(storage: Storage) -> tuple[str, str]:
    row = _history_rows(storage).to_pylist()[-1]
    return row["instantTime"], row["completionTime"]


def _archived_clean() -> Storage:
    """A table with a clean in its history."""
    storage = t.copy_on_write()
    table = t.reopened(storage)
    for fare in range(8):
        table.upsert(t.rows(1, 2, fare=fare))
        if fare == 0:
            clean(table, {"hoodie.clean.commits.retained": "1"})
    archive(table, {"hoodie.keep.max.commits": "4", "hoodie.keep.min.commits": "3", "hoodie.clean.commits.retained": "1"})
    return storage


def _pending_archived_clean(storage: Storage) -> None:
    (requested,) = [row["instantTime"] for row in _history_rows(storage).to_pylist() if row["action"] == "clean"]
    storage.put(f"{t.TIMELINE}/{requested}.clean.inflight", b"")


def _active_again(storage: Storage) -> None:
    requested, completion = _archived_time(storage)
    metadata = _history_rows(storage).to_pylist()[-1]["metadata"]
    storage.put(f"{t.TIMELINE}/{requested}_{int(completion) + 1:017}.commit", metadata)


HISTORY = (
    Damage("lost level file", "history.readable", "LSM-012", t.archived, lambda s: s.delete(_level_file(s))),
    Damage("cut level file", "history.readable", "LSM-011", t.archived, lambda s: t.cut(s, _level_file(s), 5)),
    Damage("cut manifest", "history.readable", "LSM-010", t.archived, lambda s: t.cut(s, t.manifest_of(s)[0], 9)),
    Damage("version of no manifest", "history.readable", "LSM-009", t.archived,
           lambda s: s.put(f"{t.TIMELINE}/history/_version_", b"77")),
    Damage("no version file", "history.version-file", "LSM-007", t.archived,
           lambda s: s.delete(f"{t.TIMELINE}/history/_version_")),
    Damage("unlisted level file", "history.unlisted-files", "LSM-012", t.archived,
           lambda s: s.put(f"{t.TIMELINE}/history/20200101000000000_20200101000000001_0.parquet", b"x")),
    Damage("maximum too low", "history.file-names", "LSM-015", t.archived, _rename_level_file(None, "20260921141321001"),
           says="take the action for uncommitted"),
    Damage("minimum too high", "history.file-names", "LSM-014", t.archived,
           _rename_level_file("20991231000000000", "20991231000000001"), ("LSM-015",)),
    Damage("unreadable metadata", "history.contents", "LSM-020", t.archived, edit_history(_junk_metadata)),
    Damage("archived twice", "history.no-action-twice", "ARC-002", t.archived,
           edit_history(lambda rows: pa.concat_tables([rows, rows.slice(len(rows) - 1)])), severity="cosmetic"),
    Damage("other completion when active", "history.no-action-twice", "ARC-002", t.archived, _active_again),
    Damage("rows in no order", "history.order", "LSM-022", t.archived,
           edit_history(lambda rows: rows.take(list(reversed(range(len(rows))))))),
    Damage("pending though archived", "history.completed-only", "ARC-003", t.archived,
           lambda s: s.put(f"{t.TIMELINE}/{_archived_time(s)[0]}.inflight", b""), ("TL-048", "TL-036"), "wrong-answers"),
    Damage("a service that is pending though archived", "history.completed-only", "ARC-003", _archived_clean,
           _pending_archived_clean, ("TL-048", "TL-036"), "cosmetic"),
)  # fmt: skip


def _rolled_back(storage: Storage) -> None:
    requested = split_path(t.completed(storage, "commit"))[1].partition("_")[0]
    late = "20991231000000000"
    instant = Instant(late, "rollback", State.COMPLETED, "20991231000000001")
    record = {
        "startRollbackTime": late, "timeTakenInMillis": 1, "totalFilesDeleted": 0, "commitsRollback": [requested],
        "partitionMetadata": {}, "version": 1, "instantsRollback": [{"commitTime": requested, "action": "commit"}],
    }  # fmt: skip
    storage.put(f"{t.TIMELINE}/{instant.file_name}", write_action(instant, record, bytes(16)))


ROLLBACKS = (
    Damage("completed though rolled back", "traces.rolled-back", "TL-019", t.copy_on_write, _rolled_back, ("TL-048", "TT-005")),
)
TIMELINE_DAMAGES = (*PROPERTIES, *LAYOUT, *TIMELINE, *ACTIONS, *HISTORY, *ROLLBACKS)
