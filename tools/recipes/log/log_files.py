"""Log files: valid blocks, their content, and damaged blocks."""

from typing import Any

from tools.recipes.recipe import (
    COW,
    HUDI,
    MOR,
    REFERENCE,
    Check,
    Recipe,
    Step,
    Table,
    as_of,
    bulk_insert,
    delete,
    invisible,
    read_optimized,
    recipe,
    upsert,
)
from tools.recipes.rows import COLUMNS, FLAGGED, flagged, row
from tools.recipes.table_edits import copy, edit_file, int_at, long_at, overwrite, rollback_block, truncate_file, uncommit

LOGGED = Table(columns=COLUMNS, type=MOR)
#: With an index that contains the keys of log files, Apache Hudi writes new keys to log files: slices without a base file.
LOG_ONLY = LOGGED.having(options={"hoodie.index.type": "INMEMORY"})
#: With the bucket index only the first write of a group writes a base file; later keys are written to its log files.
BUCKETS = LOGGED.having(options={"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "1"})
BLOCK_FORMAT = "hoodie.logfile.data.block.format"
LOG_COMPACTION = {"hoodie.log.compaction.inline": "true", "hoodie.log.compaction.blocks.threshold": "2"}
LOG_OF_STEP_1 = ".*_{1}.log.1_*"


BYSTANDER = row(1, "bystander", key="b")
BASE = upsert(row(1, "base"), BYSTANDER)


def log_recipe(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A recipe of this area."""
    return recipe("log", name, table, *steps, **more)


def on_a_base_file(name: str, *steps: Step, **more: Any) -> Recipe:
    """A recipe of this area: a base file with the records a and b, and later steps."""
    return log_recipe(name, LOGGED, BASE, *steps, **more)


SOUND = [
    on_a_base_file(
        "base-and-log",
        upsert(row(2, "log")),
        requirements=("TYP-006", "TYP-015", "RDR-016", "BLK-018", "LF-010", "LF-011", "LF-017", "LF-018", "LF-019", "LF-022"),
        says="A base file and one log file with an Avro data block are merged to one row for each key.",
        if_it_fails="The log file was not found or not decoded: inspect it block by block.",
        flags=("silent-stale",),
    ),
    log_recipe(
        "three-logs",
        LOGGED,
        upsert(row(1, "base"), row(1, "base", key="b"), row(1, "base", key="c")),
        upsert(row(2, "first log"), row(2, "first log", key="b")),
        upsert(row(3, "second log")),
        upsert(row(4, "third log", key="c")),
        requirements=("RDR-014", "RDR-016", "LAY-023"),
        says="All log files of a slice are merged, not only the first or the last.",
        if_it_fails="List all log files whose file id is that of the base file and whose instant completed.",
        flags=("silent-stale",),
    ),
    log_recipe(
        "many-records-in-one-block",
        LOGGED,
        upsert(*(row(1, "base", key=f"k{n:02}") for n in range(12))),
        upsert(*(row(2, "log" * n, key=f"k{n:02}") for n in range(12))),
        requirements=("BLK-019", "BLK-020", "BLK-021", "BLK-022", "RDR-016"),
        says="All records of a data block with many records of different lengths are read.",
        if_it_fails="The content begins with a version and a count; a length precedes each record.",
        flags=("silent-stale",),
    ),
    log_recipe(
        "record-positions",
        LOGGED,
        upsert(*(row(1, "base", key=f"k{n}") for n in range(5))),
        upsert(row(2, "log", key="k3"), row(2, "log", key="k1")),
        delete({"id": "k4"}, {"id": "k0"}),
        producers=(HUDI,),
        requirements=("LF-041", "LF-042", "LF-043"),
        says="A merge by record positions gives the same rows as a merge by keys.",
        if_it_fails=(
            "The header has row positions; if a reader uses them, they must select the right rows; otherwise merge by key."
        ),
        flags=("lost-write",),
    ),
    log_recipe(
        "two-groups-in-one-partition",
        LOGGED,
        bulk_insert(row(1, "first group"), row(1, "first group", key="b")),
        bulk_insert(row(1, "second group", key="c"), row(1, "second group", key="d")),
        upsert(row(2, "log of the first group"), row(2, "log of the second group", key="c")),
        delete({"id": "d"}),
        requirements=("LAY-020", "LF-003", "BF-004", "RDR-007", "MRG-006"),
        says="Each log file belongs to the base file with the same file id, also if file groups share a partition.",
        if_it_fails="Log records were matched with base files of other groups, or groups were distinguished by instant alone.",
        flags=("lost-write",),
    ),
    log_recipe(
        "data-and-delete-in-one-file",
        LOGGED.having(columns=FLAGGED),
        upsert(row(1, "base"), row(1, "base", key="b"), row(1, "base", key="c")),
        upsert(row(2, "updated"), flagged(2, key="b")),
        requirements=("BLK-006", "BLK-009", "BLK-011", "BLK-012"),
        says="The data block and the delete block of one log file are both applied.",
        if_it_fails="The reader stopped after the first block of the file.",
        flags=("resurrected-row",),
    ),
    log_recipe(
        "delete-block-of-keys",
        LOGGED,
        upsert(row(1, "base"), row(1, "base", key="b"), row(1, "base", key="c")),
        delete({"id": "a"}, {"id": "c"}),
        requirements=("BLK-006", "BLK-007", "BLK-008", "BLK-009", "BLK-010", "BLK-013"),
        says="A log file with only a delete block of two keys removes two rows.",
        if_it_fails="Delete blocks were skipped.",
        flags=("resurrected-row",),
    ),
    log_recipe(
        "deletes-without-schema-of-data",
        LOGGED,
        upsert(row(1, "base"), row(1, "base", key="b")),
        delete({"id": "b"}),
        upsert(row(2, "log")),
        delete({"id": "a"}),
        requirements=("BLK-006", "RDR-014", "BLK-011"),
        says="If delete blocks and data blocks alternate, the last change of each key decides.",
        if_it_fails="All deletes were applied first, or all last, not in the order of their files.",
        flags=("resurrected-row",),
    ),
    on_a_base_file(
        "parquet-blocks",
        upsert(row(3, "log"), options={BLOCK_FORMAT: "parquet"}),
        upsert(row(2, "late"), options={BLOCK_FORMAT: "parquet"}),
        producers=(HUDI,),
        requirements=("BLK-027", "BLK-028", "BLK-030", "LF-008"),
        says="Data blocks in Parquet format are merged like Avro data blocks.",
        if_it_fails="The content of a Parquet block is a complete Parquet file, without version and count before it.",
        flags=("silent-stale",),
    ),
    on_a_base_file(
        "parquet-and-avro-blocks",
        upsert(row(2, "in Parquet"), options={BLOCK_FORMAT: "parquet"}),
        upsert(row(3, "in Avro"), options={BLOCK_FORMAT: "avro"}),
        producers=(HUDI,),
        needs=("log.avro",),
        requirements=("LF-008", "LF-020", "BLK-030"),
        says="The data blocks of a slice may have different formats; each block states its own type.",
        if_it_fails="The format of the first block, or a setting, was used for all blocks.",
        flags=("silent-stale",),
    ),
    on_a_base_file(
        "hfile-blocks",
        upsert(row(2, "log"), options={BLOCK_FORMAT: "hfile"}),
        producers=(HUDI,),
        requirements=("BLK-023", "BLK-024", "LF-008"),
        says="Data blocks in HFile format are merged like Avro data blocks.",
        if_it_fails=(
            "The content of an HFile block is a complete HFile; its values are Avro records whose key field is empty."
        ),
        flags=("silent-stale",),
    ),
    log_recipe(
        "several-blocks-in-one-file",
        LOGGED,
        upsert(*(row(1, "base", key=f"k{n}") for n in range(6))),
        upsert(
            *(row(2, f"log {n}", key=f"k{n}") for n in range(6)),
            options={"hoodie.logfile.data.block.max.size": "1"},
        ),
        producers=(HUDI,),
        requirements=("LF-001", "LF-023", "BLK-020"),
        says="All data blocks of a log file are read.",
        if_it_fails="The reader stopped after the first block, or did not find the next one after the trailing length.",
        flags=("silent-stale",),
    ),
    log_recipe(
        "only-logs",
        LOG_ONLY,
        upsert(row(2, "first log"), row(1, "never changed", key="b")),
        upsert(row(3, "second log"), row(1, "new", key="c")),
        upsert(row(1, "late"), row(2, "newer", key="c")),
        producers=(HUDI,),
        needs=("log.only-slices", "log.avro", "merge.event-time"),
        checks=(
            Check(
                requirements=("LAY-022", "RDR-017", "MRG-028"),
                says="A file slice without base file is read from its log files.",
                if_it_fails="File groups were found by their base files only.",
                flags=("lost-write",),
            ),
            read_optimized(
                rows=(),
                requirements=("TYP-017", "LAY-022"),
                says="A file slice without base file has no rows in a read-optimized query.",
                if_it_fails="Log files were read although only base files were requested.",
                flags=("dirty-read",),
            ),
            as_of(
                0,
                "as-of",
                requirements=("TYP-008", "LAY-022"),
                says="Time travel in a slice without base file leaves out later log files.",
                if_it_fails="All log files of the slice were read, whatever their instants.",
                flags=("dirty-read",),
            ),
        ),
    ),
    log_recipe(
        "only-logs.with-deletes",
        LOG_ONLY.having(columns=FLAGGED),
        upsert(row(2, "stays"), row(1, "goes", key="b"), row(5, "late delete", key="c")),
        delete({"id": "b"}),
        upsert(flagged(4, key="c")),
        producers=(HUDI,),
        needs=("log.only-slices", "log.avro"),
        requirements=("LAY-022", "BLK-009", "BLK-013"),
        says="In a slice without base file, a delete removes its row, and a late flagged delete does not.",
        if_it_fails="Deletes were applied to base rows only.",
        flags=("resurrected-row",),
    ),
    log_recipe(
        "only-logs.compacted",
        LOG_ONLY,
        upsert(row(2, "first log"), row(1, "never changed", key="b")),
        upsert(row(3, "second log")),
        Step("compact", model="compact"),
        producers=(HUDI,),
        kind="read-optimized",
        requirements=("CMP-004", "TYP-016"),
        says="A compaction writes a base file for a slice that had only log files.",
        if_it_fails="The compacted base file was not found because its group had none before.",
        flags=("lost-write",),
    ),
    log_recipe(
        "keys-only-in-logs",
        BUCKETS,
        BASE,
        upsert(row(2, "updated in a log"), row(1, "only in a log", key="c")),
        producers=(HUDI,),
        requirements=("RDR-017", "RDR-016"),
        says="Records whose keys are only in log files are returned, in addition to those of the base file.",
        if_it_fails="Log records without a base row were dropped.",
        flags=("lost-write",),
    ),
    on_a_base_file(
        "log-compaction",
        upsert(row(3, "first log")),
        upsert(row(4, "second log")),
        delete({"id": "b"}, options=LOG_COMPACTION),
        upsert(row(5, "after the log compaction")),
        producers=(HUDI,),
        checks=(
            Check(
                requirements=("LCP-003", "LCP-005", "TL-016", "LF-040"),
                says=(
                    "After a log compaction, the compacted block and later log files give the same rows as all log files "
                    "before."
                ),
                if_it_fails="The compacted block is applied in place of the blocks whose instants its header lists.",
                flags=("double-apply",),
                errata=("ER-006",),
            ),
            as_of(
                2,
                "as-of-before",
                requirements=("LCP-004", "TYP-008"),
                says="Time travel to before a log compaction reads its input blocks, which still exist.",
                if_it_fails="Blocks that were compacted by an instant after the read time still count.",
                flags=("lost-write",),
            ),
        ),
    ),
    log_recipe(
        "log-compaction.of-both-kinds-of-deletes",
        LOGGED.having(columns=FLAGGED),
        upsert(row(1, "base"), row(1, "base", key="b"), row(5, "stays", key="c")),
        upsert(flagged(2)),
        delete({"id": "b"}),
        upsert(
            flagged(3, key="c"),
            options=LOG_COMPACTION,
        ),
        producers=(HUDI,),
        requirements=("LCP-001", "BLK-009", "MRG-029"),
        says="A delete block may have deletes with and without ordering value; each is merged by its own rule.",
        if_it_fails="The ordering values of one delete block may be of different types: an int 0 beside longs.",
        flags=("lost-write", "resurrected-row"),
    ),
    log_recipe(
        "log-compaction.commit-time",
        LOGGED.having(merge_mode="COMMIT_TIME_ORDERING"),
        upsert(row(9, "base"), BYSTANDER),
        upsert(row(8, "first log")),
        upsert(
            row(7, "second log"),
            options=LOG_COMPACTION,
        ),
        upsert(row(6, "last log")),
        producers=(HUDI,),
        requirements=("LCP-003", "LCP-005", "MRG-025"),
        says="In commit-time mode a log file written after a log compaction wins over the compacted block.",
        if_it_fails="Sort the compacted block at the position of the blocks that it replaces.",
        flags=("silent-stale",),
    ),
    log_recipe(
        "change-capture-logs",
        Table(
            columns=COLUMNS,
            type=COW,
            options={"hoodie.table.cdc.enabled": "true"},
        ),
        BASE,
        upsert(row(2, "updated"), row(1, "inserted", key="c")),
        delete({"id": "b"}),
        producers=(HUDI,),
        requirements=("TYP-004", "TYP-005", "TYP-002"),
        says="A snapshot of a copy-on-write table ignores change-capture log files.",
        if_it_fails="Log files with the suffix .cdc hold changes for change queries; a snapshot reads base files only.",
        flags=("double-apply",),
    ),
]


def other_attempt(path: str, _: Any) -> str:
    """The name of a log file with the write token of another attempt."""
    return path.rpartition("_")[0] + "_9-9-9"


#: Version 2 of the second log file, as a rollback of the second commit writes it.
def next_version(path: str, _: Any) -> str:
    """The name of a log file with the next version."""
    return path.replace(".log.1_", ".log.2_")


def rollback_after(*blocks: tuple[int, int]) -> Any:
    """TableEdit: another log file of commit 1 with rollback command blocks, given as step numbers (own instant, target)."""

    def act(folder: Any, instants: Any) -> None:
        copy(LOG_OF_STEP_1, next_version)(folder, instants)
        content = b"".join(rollback_block(instants[own], instants[target]) for own, target in blocks)
        edit_file(".*_{1}.log.2_*", lambda _: content)(folder, instants)

    return act


def command(name: str, *steps: Step, **more: Any) -> Recipe:
    """A table of version 8 with rollback command blocks in a separate log file."""
    about = {"producers": (REFERENCE, HUDI), "needs": ("log.command",), "flags": ("lost-write",)}
    return on_a_base_file(f"rollback-command{name}", *steps, **{**about, **more})


ROLLED_BACK = (invisible(upsert(row(2, "rolled back by a command block"))), upsert(row(2, "newer", key="b")))
OF_ITS_TARGET = "The command names its target; the target is not always the block before it."

COMMANDS = [
    command(
        "",
        *ROLLED_BACK,
        edits=(rollback_after((2, 1)),),
        requirements=("BLK-001", "BLK-002", "BLK-003", "BLK-004", "LF-037", "LF-039"),
        says="A rollback command block rolls back the blocks of the instant that it names.",
        if_it_fails="Command blocks are applied in version 8 tables too, because upgraded tables have them.",
        flags=("resurrected-row",),
    ),
    command(
        ".twice",
        *ROLLED_BACK,
        edits=(rollback_after((2, 1), (2, 1), (2, 1)),),
        requirements=("BLK-005", "LF-037"),
        says="A rollback command that a retry wrote again has no further effect.",
        if_it_fails=OF_ITS_TARGET,
    ),
    command(
        ".names-another-instant",
        upsert(row(2, "stays: the command names no block of this slice")),
        edits=(
            copy(LOG_OF_STEP_1, next_version),
            edit_file(".*_{1}.log.2_*", lambda _: rollback_block("20200101000000001", "20200101000000000")),
        ),
        requirements=("BLK-005", "LF-037"),
        says="A rollback command for an instant without blocks in the slice rolls back nothing.",
        if_it_fails=OF_ITS_TARGET,
    ),
]

HARMLESS = [
    on_a_base_file(
        "left-over.empty-log-file",
        upsert(row(2, "first log")),
        upsert(row(3, "second log")),
        edits=(copy(LOG_OF_STEP_1, other_attempt), edit_file(".*_{1}.log.1_9-9-9", lambda _: b"")),
        requirements=("LF-006", "RDR-014"),
        says="A log file of zero bytes, left by a failed attempt, does not hide the logs after it.",
        if_it_fails="An empty log file has no block; continue with the next file.",
        flags=("silent-stale",),
    ),
    on_a_base_file(
        "left-over.cut-log-of-a-pending-instant",
        upsert(row(2, "first log")),
        invisible(upsert(row(3, "not committed"))),
        edits=(uncommit(2), truncate_file(".*_{2}.log.1_*", 0.6)),
        requirements=("BLK-016", "LF-036", "RDR-008"),
        says="A truncated log file of a pending instant, left by a crashed writer, does not affect the rows.",
        if_it_fails="Files of pending instants do not have to be opened.",
        flags=("lost-write",),
    ),
    on_a_base_file(
        "left-over.cut-block-before-a-whole-one",
        upsert(row(2, "log")),
        edits=(edit_file(LOG_OF_STEP_1, lambda content: content[: len(content) // 2] + content),),
        requirements=("BLK-015", "BLK-017", "LF-024"),
        says="It is open whether a truncated block before a complete one in a committed file is skipped or an error.",
        if_it_fails=(
            "After a corrupt block search for the next #HUDI#; reporting the committed file as damaged is accepted too."
        ),
        open=True,
    ),
    on_a_base_file(
        "left-over.bytes-after-the-last-block",
        upsert(row(2, "log")),
        edits=(edit_file(LOG_OF_STEP_1, lambda content: content + b"\x00" * 7),),
        requirements=("LF-025",),
        says="Bytes after the last block that belong to no block are ignored; the block before them is read.",
        if_it_fails=(
            "The whole file, or its last block, was treated as corrupt because of the bytes after its trailing length."
        ),
        flags=("silent-stale",),
    ),
]


def damaged_log_recipe(name: str, requirements: tuple[str, ...], says: str, edits: Any, error: str, **more: Any) -> Recipe:
    """A damaged committed log file: an error is right, rows without its changes are wrong."""
    return on_a_base_file(
        f"damaged.{name}",
        upsert(row(2, "log")),
        edits=(edits,),
        requirements=requirements,
        says=says,
        error=error,
        producers=(HUDI,),
        if_it_fails=(
            "The log file belongs to a completed instant, so that a reader that ignores its rows silently loses a write."
        ),
        flags=("lost-write",),
        **more,
    )


DAMAGED = [
    damaged_log_recipe(
        "bad-magic",
        ("LF-012", "BLK-015"),
        "A committed log file that does not begin with the magic is an error.",
        overwrite(LOG_OF_STEP_1, 0, b"#HUDJ#"),
        "log-block-magic",
    ),
    damaged_log_recipe(
        "length-beyond-the-end",
        ("LF-013", "LF-024", "BLK-016"),
        "A committed block whose length points beyond the end of the file is an error.",
        overwrite(LOG_OF_STEP_1, 6, long_at(1 << 20)),
        "log-block-length",
    ),
    damaged_log_recipe(
        "unknown-block-type",
        ("LF-015",),
        "A committed block of an unknown type is an error or a refusal.",
        overwrite(LOG_OF_STEP_1, 18, int_at(99)),
        "log-block-type",
    ),
    damaged_log_recipe(
        "unknown-format-version",
        ("LF-014", "LF-027"),
        "A committed block of a later log format version is an error or a refusal.",
        overwrite(LOG_OF_STEP_1, 14, int_at(7)),
        "log-format-version",
    ),
    damaged_log_recipe(
        "cut-in-the-middle",
        ("BLK-015", "LF-024"),
        "A committed log file that is truncated inside its block is an error.",
        truncate_file(LOG_OF_STEP_1, 0.6),
        "log-block-cut",
    ),
    damaged_log_recipe(
        "cut-before-the-trailing-length",
        ("LF-023", "LF-024"),
        "A committed log file without its last eight bytes is an error.",
        truncate_file(LOG_OF_STEP_1, -8),
        "log-block-cut",
    ),
    damaged_log_recipe(
        "trailing-length-differs",
        ("LF-023", "LF-024"),
        "A committed block whose trailing length contradicts its block length is an error.",
        overwrite(LOG_OF_STEP_1, -8, long_at(12345)),
        "log-block-length",
    ),
    damaged_log_recipe(
        "log-file-missing",
        ("TL-036", "TYP-006"),
        "A missing log file that a completed instant names is an error; its rows are not left out.",
        lambda folder, instants: next(folder.glob(LOG_OF_STEP_1.format(*instants))).unlink(),
        "data-file-missing",
    ),
    on_a_base_file(
        "damaged.unknown-command",
        upsert(row(2, "log")),
        upsert(row(3, "later log")),
        edits=(
            rollback_after((2, 1)),
            edit_file(".*_{1}.log.2_*", lambda content: content.replace(b"\x00\x00\x00\x010", b"\x00\x00\x00\x017")),
        ),
        producers=(REFERENCE,),
        requirements=("LF-039", "BLK-003"),
        says="A command block with an unknown command is an error.",
        error="log-command",
        if_it_fails="Rollback is the only defined command; another command must not be ignored.",
        flags=("lost-write",),
    ),
]

RECIPES = [*SOUND, *COMMANDS, *HARMLESS, *DAMAGED]
