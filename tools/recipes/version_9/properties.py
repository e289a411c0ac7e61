"""The properties that decide merging at version 9: the mode alone counts, and what a reader must refuse."""

from typing import Any

from tools.recipes.merge.merge_modes import FIRST
from tools.recipes.recipe import (
    COMMIT,
    COW,
    HUDI_1_2,
    MOR,
    REFERENCE,
    UNDECIDED,
    Recipe,
    Row,
    Table,
    bulk_insert,
    compact,
    recipe,
    upsert,
)
from tools.recipes.rows import COLUMNS, SHORT, row
from tools.recipes.table_edits import set_property

TABLE = Table(columns=COLUMNS, version=9)
LATE = upsert(row(9, "late"))
COMMIT_STRATEGY = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
OVERWRITE = "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"
STALE: dict[str, Any] = {"flags": ("silent-stale",), "producers": (HUDI_1_2,)}


def refusal(name: str, says: str, *edits: Any, **more: Any) -> Recipe:
    """A merge-on-read table with a late row in a log, and a property that no reader may guess."""
    more = {"if_it_fails": "The table was read by a guess; check the property when the table is opened.", **more}
    flags = ("silent-guess", "silent-stale")
    return recipe(
        "layout", f"version-9.{name}", TABLE, FIRST, LATE, producers=(HUDI_1_2,), edits=edits, says=says, flags=flags, **more
    )


REFUSALS = [
    refusal(
        "merge-mode-missing",
        "A table of version 9 without merge mode is not merged: nothing is inferred when it is read.",
        set_property("hoodie.record.merge.mode", None),
        requirements=("MRG-041",),
        error="the merge mode is missing",
        errata=("ER-169",),
    ),
    refusal(
        "timeline-layout-1",
        "A table of version 9 with timeline layout 1 is refused, and never read as empty.",
        set_property("hoodie.timeline.layout.version", "1"),
        requirements=("PROP-019", "PROP-010"),
        error="timeline layout 1 in a table of version 9",
        errata=("ER-188",),
    ),
    refusal(
        "version-10",
        "A table of version 10 is refused by its number, although its files are those of version 9.",
        set_property("hoodie.table.version", "10"),
        requirements=("COMPAT-002", "COMPAT-004", "PROP-018"),
        refused="table-version",
    ),
    refusal(
        "unknown-partial-update-mode",
        "A partial update mode that no release knows is refused.",
        set_property("hoodie.table.partial.update.mode", "KEEP_VALUES"),
        requirements=("PROP-023",),
        error="an unknown partial update mode",
        errata=("ER-170",),
    ),
]


def decided(name: str, says: str, *edits: Any, **more: Any) -> Recipe:
    """A merge-on-read table in event-time mode with a late row, and properties that do not change the mode."""
    wrong = "The mode of version 9 is hoodie.record.merge.mode; no other property changes it."
    return recipe(
        "merge", f"version-9.{name}.mor", TABLE, FIRST, LATE, edits=edits, says=says, if_it_fails=wrong, **STALE, **more
    )


MODE = [
    decided(
        "former-ordering-name",
        "In a table of version 9 hoodie.table.precombine.field still names the ordering field.",
        set_property("hoodie.table.ordering.fields", None),
        set_property("hoodie.table.precombine.field", "ts"),
        requirements=("PROP-021", "MRG-029"),
    ),
    decided(
        "contradicting-strategy",
        "A strategy id that contradicts the merge mode has no effect at version 9.",
        set_property("hoodie.record.merge.strategy.id", COMMIT_STRATEGY),
        requirements=("MRG-042", "MRG-029"),
        errata=("ER-171",),
    ),
    decided(
        "contradicting-payload-class",
        "A payload class that contradicts the merge mode has no effect at version 9.",
        set_property("hoodie.compaction.payload.class", OVERWRITE),
        requirements=("MRG-042", "MRG-029"),
        errata=("ER-171",),
    ),
    decided(
        "legacy-class-alone",
        "The legacy payload class is a record of what was asked for, and does not decide how rows are merged.",
        set_property("hoodie.table.legacy.payload.class", OVERWRITE),
        requirements=("PROP-025", "MRG-029"),
        errata=("ER-171",),
    ),
    recipe(
        "merge", "version-9.commit-time-with-ordering-fields.mor",
        Table(columns=COLUMNS, ordering=(), version=9), FIRST, LATE,
        edits=(set_property("hoodie.table.ordering.fields", "ts"),),
        requirements=("MRG-042", "MRG-021"),
        says="Ordering fields do not change the stored merge mode commit time.",
        if_it_fails="The mode was inferred from the ordering fields; at version 9 the stored mode counts.",
        **STALE,
    ),
]  # fmt: skip

MARKED = (("id", "string"), ("ts", "long"), ("op", "string"), ("name", "string"))
MARKER = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "D"}
PREFIX = "hoodie.record.merge.property."


def change(key: str, ts: int, op: str, name: str = "changed") -> Row:
    """A change with its operation."""
    return {"id": key, "ts": ts, "op": op, "name": name}


STORED = [change(key, 5, "I", "stored") for key in ("gone", "late", "lower-case", "updated")]
CHANGES = [change("gone", 6, "D"), change("late", 4, "D"), change("lower-case", 6, "d"), change("updated", 6, "U")]
KEPT = [change("lower-case", 6, "d"), change("updated", 6, "U")]
BY_TIME = (change("late", 5, "I", "stored"), *KEPT)
EXACT = "Delete field and marker are merge properties of the table; compare the marker exactly, and remove the prefix."


def marked(name: str, table: Table, *steps: Any, **more: Any) -> Recipe:
    """A table with a delete marker."""
    told = {"requirements": ("MRG-051", "PROP-024"), "if_it_fails": EXACT, "errata": ("ER-172",), **STALE}
    return recipe("merge", f"version-9.marker.{name}", table, *steps, **{**told, "producers": (HUDI_1_2, REFERENCE), **more})


def markers() -> list[Recipe]:
    """Tables with a delete marker that the first write set."""
    found = []
    for kind in (COW, MOR):
        table = Table(columns=MARKED, type=kind, version=9)
        steps = upsert(*STORED, options=MARKER), upsert(*CHANGES)
        found += [
            marked(
                f"later-writer.{SHORT[kind]}",
                table,
                *steps,
                rows=BY_TIME,
                says="Rows with the marker of the table are deletes, although their writer does not name it.",
            ),
            marked(
                f"commit-time.{SHORT[kind]}",
                table.having(merge_mode=COMMIT, ordering=()),
                *steps,
                rows=tuple(KEPT),
                says="In commit-time mode each row with the marker of the table is a delete.",
            ),
            marked(
                f"bulk-insert.{SHORT[kind]}",
                table,
                steps[0],
                bulk_insert(change("new", 1, "D")),
                rows=(*STORED, change("new", 1, "D")),
                says="A bulk insert of a row with the marker of the table.",
                requirements=("MRG-051",),
                producers=(HUDI_1_2,),
                errata=("ER-173",),
                **UNDECIDED,
            ),
        ]
    return found  # fmt: skip


LOG_BLOCK = Table(columns=MARKED, version=9)
MARKERS = [
    *markers(),
    marked(
        "in-a-log-data-block.mor", LOG_BLOCK, upsert(*STORED), upsert(*CHANGES), rows=BY_TIME,
        edits=[set_property(f"{PREFIX}{name}", value) for name, value in MARKER.items()],
        says="A row with the marker of the table in a log data block is a delete.",
    ),
    marked(
        "compacted.mor", LOG_BLOCK, upsert(*STORED, options=MARKER), upsert(*CHANGES), compact(), rows=BY_TIME,
        says="A compaction removes the rows with the marker of the table.",
    ),
]  # fmt: skip

RECIPES = [*REFUSALS, *MODE, *MARKERS]
