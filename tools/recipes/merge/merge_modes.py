"""Merging: which version of a record is the result, in either merge mode and table type."""

from typing import Any

from tools.recipes.recipe import (
    BOTH,
    COMMIT,
    COW,
    HUDI,
    HUDI_1_2,
    MOR,
    Check,
    Recipe,
    Row,
    Step,
    Table,
    TableType,
    compact,
    delete,
    insert,
    service,
    sql_delete,
    upsert,
)
from tools.recipes.rows import COLUMNS, FLAGGED, SHORT, flagged, row

EVENT_TABLE = Table(columns=COLUMNS)
FLAG_TABLE = Table(columns=FLAGGED)
COMMIT_TABLE = Table(columns=COLUMNS, merge_mode=COMMIT)
BYSTANDER: Row = {"id": "bystander", "ts": 1, "name": "untouched"}
ORDER = "Compare the ordering values before the later version replaces the earlier one; of equal ones the later wins."


def story(
    name: str,
    table: Table,
    *steps: Step,
    types: tuple[TableType, ...] = (MOR,),
    producers: Any = BOTH,
    edits: Any = (),
    note: str | None = None,
    **check: Any,
) -> list[Recipe]:
    """One recipe for each table type, with one check of the snapshot.

    The writer of a copy-on-write table merges. A reader only has to find the newest base file, so that such a case cites no
    rule of merging.
    """
    needs = check.pop("needs", ())
    requirements = {MOR: (*check.pop("requirements"), "MRG-014"), COW: ("TYP-002", "TYP-003", "RDR-012")}
    return [
        Recipe(
            name=f"{name}.{SHORT[kind]}",
            area="merge",
            table=table.having(type=kind),
            steps=steps,
            checks=(Check(requirements=requirements[kind], **check),),
            producers=producers,
            edits=edits,
            needs=needs,
            note=note,
        )
        for kind in types
    ]


FIRST = upsert(row(10, "stored"), BYSTANDER)

EVENT_TIME = [
    *story(
        "event-time.late-record",
        EVENT_TABLE,
        FIRST,
        upsert(row(9, "late")),
        types=(COW, MOR),
        requirements=("MRG-028", "MRG-029", "PROP-009"),
        says="A late record with a smaller ordering value does not replace the stored one.",
        if_it_fails=ORDER,
        flags=("silent-stale",),
    ),
    *story(
        "event-time.newer-record",
        EVENT_TABLE,
        FIRST,
        upsert(row(11, "newer")),
        types=(COW, MOR),
        requirements=("MRG-028", "MRG-018"),
        says="A record with a greater ordering value replaces the stored one.",
        if_it_fails="The later write was not applied, or the table was treated as insert-only.",
        flags=("silent-stale",),
    ),
    *story(
        "event-time.equal-ordering",
        EVENT_TABLE,
        FIRST,
        upsert(row(10, "same ordering, later write")),
        requirements=("MRG-028",),
        says="Of two versions with equal ordering values the later write is the result.",
        if_it_fails=ORDER,
        flags=("silent-stale",),
    ),
    *story(
        "event-time.late-record.two-logs",
        EVENT_TABLE,
        FIRST,
        upsert(row(12, "newest")),
        upsert(row(11, "late, but newer than the base row")),
        requirements=("MRG-028", "MRG-029"),
        says="A late record in a second log file does not replace the newer record of the first.",
        if_it_fails="The reader applies log files in order of arrival; compare ordering values before replacing.",
        flags=("silent-stale",),
    ),
    *story(
        "event-time.whole-row-wins",
        EVENT_TABLE,
        FIRST,
        upsert({"id": "a", "ts": 11, "name": None}),
        requirements=("MRG-028",),
        says="The newer row replaces the older one as a whole: its null is the result, not the older value.",
        if_it_fails="Columns were merged one by one; only a partial-update block may do that.",
        flags=("silent-stale",),
    ),
    *story(
        "event-time.explicit-mode",
        EVENT_TABLE.having(merge_mode="EVENT_TIME_ORDERING"),
        FIRST,
        upsert(row(9, "late"), row(2, "newer", key="bystander")),
        requirements=("MRG-021", "MRG-023", "MRG-028"),
        says="A table created with event-time mode keeps that mode in every later write and read.",
        if_it_fails="The mode is a property of the table: read hoodie.record.merge.mode, not a setting of the job.",
        flags=("silent-stale",),
    ),
]

EVENT_TIME += story(
    "event-time.another-mode-of-one-job",
    EVENT_TABLE,
    FIRST,
    upsert(row(9, "late"), options={"hoodie.write.record.merge.mode": COMMIT}),
    producers=(HUDI,),
    requirements=("MRG-010", "MRG-021"),
    says="The merge mode in the settings of one job does not change the merge mode of the table.",
    if_it_fails="The mode belongs to the table: read hoodie.record.merge.mode.",
    flags=("silent-stale",),
)

COMMIT_TIME = [
    *story(
        "commit-time.later-write-wins",
        COMMIT_TABLE,
        FIRST,
        upsert(row(9, "smaller ordering value, later write")),
        types=(COW, MOR),
        requirements=("MRG-025", "MRG-016"),
        says="In commit-time mode the later write is the result, although the table has an ordering field.",
        if_it_fails="The merge mode was ignored; it decides whether ordering values are compared.",
        flags=("silent-stale",),
    ),
    *story(
        "commit-time.by-inference",
        EVENT_TABLE.having(ordering=()),
        FIRST,
        upsert(row(9, "later write")),
        upsert(row(3, "last write")),
        requirements=("MRG-017", "MRG-025"),
        says="A table without ordering field and merge mode has commit-time ordering.",
        if_it_fails="With no ordering field every version counts as equal, and the later write is the result.",
        flags=("silent-stale",),
    ),
    *story(
        "commit-time.insert-delete-insert",
        COMMIT_TABLE,
        FIRST,
        delete({"id": "a"}),
        upsert(row(1, "inserted again")),
        requirements=("MRG-025",),
        says="In commit-time mode a row that was deleted and written again is returned.",
        if_it_fails="The delete won over a later write: log blocks were read newest first, or deletes applied last.",
        flags=("lost-write",),
    ),
    *story(
        "commit-time.flagged-delete",
        COMMIT_TABLE.having(columns=FLAGGED),
        FIRST,
        upsert(flagged(3)),
        requirements=("MRG-025",),
        says="In commit-time mode a flagged delete removes the row, whatever its ordering value.",
        if_it_fails="The delete was compared by its ordering value, or the flag was ignored.",
        flags=("resurrected-row",),
    ),
    *story(
        "commit-time.delete",
        COMMIT_TABLE,
        FIRST,
        delete({"id": "a"}),
        requirements=("MRG-025",),
        says="In commit-time mode a delete by key removes the row.",
        if_it_fails="Delete blocks were ignored.",
        flags=("resurrected-row",),
    ),
]

DELETES = [
    *story(
        "delete.by-key",
        EVENT_TABLE,
        FIRST,
        delete({"id": "a"}),
        types=(COW, MOR),
        requirements=("MRG-001",),
        says="A delete by key removes the row, although it has no ordering value.",
        if_it_fails="A delete without ordering value always wins over earlier versions.",
        flags=("resurrected-row",),
    ),
    *story(
        "delete.by-sql",
        EVENT_TABLE,
        FIRST,
        sql_delete({"id": "a"}),
        producers=(HUDI,),
        types=(COW, MOR),
        requirements=("MRG-001",),
        says="A row deleted by SQL DELETE is not returned.",
        if_it_fails="A delete without ordering value (an int 0 in the delete block) wins over earlier versions.",
        flags=("resurrected-row",),
    ),
    *story(
        "delete.flagged-newer",
        FLAG_TABLE,
        FIRST,
        upsert(flagged(11)),
        types=(COW, MOR),
        requirements=("MRG-028",),
        says="A flagged delete with a greater ordering value removes the row.",
        if_it_fails="The delete block or the flag in the row was not applied.",
        flags=("resurrected-row",),
    ),
    *story(
        "delete.flagged-equal",
        FLAG_TABLE,
        FIRST,
        upsert(flagged(10)),
        requirements=("MRG-028",),
        says="A flagged delete with the ordering value of the stored row removes it: of equal values the later write wins.",
        if_it_fails="Compare with >=, not with >.",
        flags=("resurrected-row",),
    ),
    *story(
        "delete.flagged-late",
        FLAG_TABLE,
        FIRST,
        upsert(flagged(9)),
        types=(COW, MOR),
        requirements=("MRG-029", "MRG-028"),
        says="A flagged delete with a smaller ordering value than the stored row is late and has no effect.",
        if_it_fails="Deletes in a delete block have an ordering value, which must be compared.",
        flags=("lost-write",),
    ),
    *story(
        "delete.flag-false-or-null",
        FLAG_TABLE,
        FIRST,
        upsert(row(11, "flag is false", _hoodie_is_deleted=False), row(2, "flag is null", key="bystander")),
        requirements=("MRG-028",),
        says="A row whose delete flag is false or null is not a delete.",
        if_it_fails="Only the value true marks a delete; the column may be null or absent.",
        flags=("lost-write",),
    ),
    *story(
        "delete.tombstone-defeats-late-row",
        FLAG_TABLE,
        FIRST,
        upsert(flagged(20)),
        upsert(row(15, "between delete and base")),
        requirements=("MRG-029", "BLK-009"),
        says="A flagged delete in a log file wins over a later row with a smaller ordering value.",
        if_it_fails="The delete was dropped with the base row; keep it with its ordering value as long as the slice exists.",
        flags=("resurrected-row",),
    ),
    *story(
        "delete.row-defeats-tombstone",
        FLAG_TABLE,
        FIRST,
        upsert(flagged(20)),
        upsert(row(20, "as new as the delete")),
        upsert(flagged(19)),
        requirements=("MRG-028", "BLK-009"),
        says="A row with the ordering value of an earlier flagged delete is returned, and a late delete does not remove it.",
        if_it_fails="Compare a row and a delete like two rows: by ordering value; of equal ones the later wins.",
        flags=("lost-write",),
    ),
    *story(
        "delete.greatest-tombstone-counts",
        FLAG_TABLE,
        FIRST,
        upsert(flagged(20)),
        upsert(flagged(12)),
        upsert(row(15, "between the two deletes")),
        requirements=("MRG-028", "MRG-029"),
        says="Of two flagged deletes the one with the greater ordering value wins, whichever was written later.",
        if_it_fails="The later delete replaced the earlier one without a comparison.",
        flags=("resurrected-row",),
    ),
    *story(
        "delete.then-newer-row",
        EVENT_TABLE,
        FIRST,
        delete({"id": "a"}),
        upsert(row(11, "written again")),
        requirements=("MRG-028", "MRG-001"),
        says="A row written after a delete by key is returned.",
        if_it_fails="A delete without ordering value must not be compared with ordering values of another type.",
        flags=("lost-write",),
    ),
    *story(
        "delete.then-older-row",
        EVENT_TABLE,
        FIRST,
        delete({"id": "a"}),
        upsert(row(5, "written again with a smaller ordering value")),
        requirements=("MRG-001",),
        says=(
            "A row written after a delete by key is returned, even if its ordering value is smaller than that of the "
            "deleted row."
        ),
        if_it_fails=(
            "The log records were merged with each other first and then with the base row, which a delete between "
            "them had removed."
        ),
        flags=("resurrected-row",),
    ),
    *story(
        "delete.then-older-row.int-ordering",
        EVENT_TABLE.having(columns=(("id", "string"), ("ts", "int"), ("name", "string"))),
        FIRST,
        delete({"id": "a"}),
        upsert(row(5, "written again with a smaller ordering value")),
        requirements=("MRG-001",),
        says="With an int ordering field, a row deleted by key is not returned; the row written after it may be.",
        accept=((BYSTANDER,),),
        if_it_fails=(
            "The log records were merged with each other first and then with the base row, which a delete between "
            "them had removed."
        ),
        flags=("resurrected-row",),
    ),
    *story(
        "delete.then-negative-ordering",
        EVENT_TABLE.having(columns=(("id", "string"), ("ts", "int"), ("name", "string"))),
        FIRST,
        delete({"id": "a"}),
        upsert(row(-1, "written again with a negative ordering value")),
        requirements=("MRG-001",),
        says=(
            "After a delete by key a row with a negative ordering value may be returned or not; the deleted row must not be."
        ),
        accept=((BYSTANDER,),),
        if_it_fails="The deleted base row was returned: merge the delete with the base row before later rows.",
        flags=("resurrected-row",),
    ),
    *story(
        "delete.unknown-key",
        FLAG_TABLE,
        FIRST,
        upsert(flagged(20, key="never-seen"), row(11, "newer")),
        requirements=("MRG-028",),
        says="A flagged delete of a key that the table does not have adds no row.",
        if_it_fails="A row marked as deleted was inserted.",
        flags=("phantom-row",),
    ),
    *story(
        "delete.every-row",
        EVENT_TABLE,
        FIRST,
        delete({"id": "a"}, {"id": "bystander"}),
        requirements=("MRG-001",),
        says="A table whose rows are all deleted has columns and no rows.",
        if_it_fails="An empty result needs the table's schema from the commit metadata.",
        flags=("resurrected-row",),
    ),
]


SERVICES = [
    *story(
        "compaction.keeps-the-winner",
        EVENT_TABLE,
        FIRST,
        upsert(row(12, "newest")),
        upsert(row(11, "late")),
        compact(),
        upsert(row(10, "late again")),
        producers=(HUDI, HUDI_1_2),
        requirements=("MRG-013", "MRG-008", "CMP-002"),
        says="Compaction merges by the same rule as a reader, and a late row does not replace the compacted row.",
        if_it_fails="The new base row must carry its ordering value; compare with it.",
        flags=("silent-stale",),
    ),
    *story(
        "compaction.forgets-tombstones",
        FLAG_TABLE,
        upsert(row(1, "first"), BYSTANDER),
        upsert(flagged(5)),
        compact(),
        upsert(row(3, "below the compacted delete")),
        producers=(HUDI,),
        requirements=("CMP-003", "CMP-006"),
        says="After a compaction a delete has no effect: a later row is returned, whatever its ordering value.",
        if_it_fails="Log files of the slice before the compaction were applied again.",
        flags=("double-apply",),
    ),
    *story(
        "compaction.deleted-stays-deleted",
        EVENT_TABLE,
        FIRST,
        delete({"id": "a"}),
        compact(),
        producers=(HUDI,),
        requirements=("CMP-006", "CMP-001"),
        says="A deleted record is not returned after a compaction.",
        if_it_fails="The base file of the older slice was read in addition to the new one.",
        flags=("resurrected-row",),
    ),
    *story(
        "clustering.keeps-the-winner",
        EVENT_TABLE,
        FIRST,
        upsert(row(12, "newest")),
        service("cluster"),
        upsert(row(11, "late")),
        producers=(HUDI,),
        types=(COW, MOR),
        requirements=("MRG-008", "TL-011"),
        says="Clustering changes no row, and a late row does not replace the clustered row.",
        if_it_fails="Rows of the replaced file groups were read, or the clustered row lost its ordering value.",
        flags=("silent-stale",),
        needs=("timeline.replaced-groups",),
    ),
]

KEYS = [
    *story(
        "keys.same-key-in-two-partitions",
        Table(columns=(*COLUMNS, ("p", "string")), partition=("p",)),
        upsert(row(10, "north", p="n"), row(10, "south", p="s")),
        upsert(row(11, "newer in the north", p="n")),
        delete({"id": "a", "p": "s"}),
        upsert(row(5, "late in the north", p="n")),
        types=(COW, MOR),
        requirements=("PROP-017", "META-007"),
        says="Equal keys in two partitions are two records; an update or delete of one does not affect the other.",
        if_it_fails="Records were matched by key alone; match by partition and key.",
        flags=("lost-write",),
        needs=("partition.plain",),
    ),
    *story(
        "keys.duplicates-by-insert",
        EVENT_TABLE,
        insert(row(10, "first"), row(9, "second"), BYSTANDER),
        insert(row(1, "third")),
        types=(COW, MOR),
        requirements=("TYP-007",),
        says="Rows with the same key that insert wrote, which does not look up keys, are all returned.",
        if_it_fails="Rows of base files were merged with each other; only log records are merged with base rows.",
        flags=("lost-write",),
    ),
    *story(
        "keys.composite",
        Table(
            columns=(("region", "string"), ("id", "long"), ("ts", "long"), ("name", "string")),
            record_key=("region", "id"),
        ),
        upsert(
            {"region": "n", "id": 1, "ts": 10, "name": "north one"},
            {"region": "n", "id": 2, "ts": 10, "name": "north two"},
            {"region": "n,id:2", "id": 1, "ts": 10, "name": "separators in the value"},
        ),
        upsert({"region": "n", "id": 1, "ts": 11, "name": "north one again"}),
        upsert({"region": "n", "id": 2, "ts": 9, "name": "late"}),
        delete({"region": "n,id:2", "id": 1}),
        types=(COW, MOR),
        requirements=("META-008", "PROP-007", "MRG-028"),
        says="A key of two fields identifies a record by both, also if values contain separators.",
        if_it_fails="Use _hoodie_record_key as the key; do not split it.",
        flags=("lost-write",),
        needs=("key.complex",),
    ),
    *story(
        "keys.unicode",
        EVENT_TABLE,
        upsert(
            row(10, "snowman", key="☃"),
            row(10, "two code units", key="\U0001f600"),
            row(10, "decomposed", key="e\u0301"),
            row(10, "composed", key="\u00e9"),
        ),
        upsert(row(11, "snowman again", key="☃"), row(9, "late", key="\U0001f600"), row(11, "composed again", key="\u00e9")),
        delete({"id": "e\u0301"}),
        types=(COW, MOR),
        requirements=("META-007", "MRG-028"),
        says="Keys are compared as texts, code point by code point, without normalization.",
        if_it_fails="Keys were normalized or went through an encoding other than UTF-8.",
        flags=("lost-write",),
    ),
]

RECIPES = [*EVENT_TIME, *COMMIT_TIME, *DELETES, *SERVICES, *KEYS]
