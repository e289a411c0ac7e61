"""The properties file and its backup, edited by hand."""

from typing import Any

from tools.recipes.handmade_actions import data_block, deltacommit
from tools.recipes.handmade_tables import COMMIT_TABLE, row
from tools.recipes.recipe import REFERENCE, Recipe, TableEdit, recipe, upsert
from tools.recipes.table_edits import PROPERTIES, copy, edit_file, truncate_file

BACKUP = f"{PROPERTIES}.backup"


def layout(name: str, *edits: TableEdit, **check: Any) -> Recipe:
    """A commit-time table with a log record whose ordering value is lower than that of the base row, and edits of its files."""
    base, log, bystander = row("base", ts=5), row("log"), row("bystander", "b", ts=5)
    edits = (deltacommit(10, 11, data_block(10, log)), *edits)
    needs, rows = ("log.avro", "merge.commit-time"), (log, bystander)
    return recipe(
        "layout",
        name,
        COMMIT_TABLE,
        upsert(base, bystander),
        producers=(REFERENCE,),
        edits=edits,
        needs=needs,
        rows=rows,
        **check,
    )


def by_event_time(content: bytes) -> bytes:
    """The properties of a table in event-time mode."""
    return content.replace(b"COMMIT_TIME_ORDERING", b"EVENT_TIME_ORDERING")


backed_up = copy(str(PROPERTIES), lambda path, _: f"{path}.backup")

RECIPES = [
    layout(
        "properties.damaged-beside-a-whole-backup",
        backed_up,
        truncate_file(str(PROPERTIES), 0.4),
        requirements=("S3-005", "PROP-011"),
        says="A properties file that was truncated in an update is detected, and the backup is read.",
        if_it_fails="Check the required properties and the checksum; if one is missing or wrong, read the backup.",
        flags=("silent-stale",),
    ),
    layout(
        "properties.empty-beside-a-whole-backup",
        backed_up,
        edit_file(str(PROPERTIES), lambda _: b""),
        requirements=("S3-005", "PROP-011"),
        says="An empty properties file beside a complete backup is detected, and the backup is read.",
        if_it_fails="Check the required properties and the checksum; if one is missing or wrong, read the backup.",
        flags=("silent-stale",),
    ),
    layout(
        "properties.a-stale-backup",
        backed_up,
        edit_file(BACKUP, by_event_time),
        requirements=("LAY-013", "PROP-001"),
        says="A backup of the properties is ignored while the properties file is complete.",
        if_it_fails="Read hoodie.properties first, and the backup only if that is missing or damaged.",
        flags=("silent-stale",),
    ),
    layout(
        "properties.a-stale-backup-with-more-entries",
        backed_up,
        edit_file(BACKUP, lambda data: by_event_time(data) + b"hoodie.keygen.timebased.timezone=UTC\n"),
        requirements=("LAY-013", "PROP-001"),
        says="A complete properties file decides, also if its backup has an entry that was removed since.",
        if_it_fails="A further entry of the backup does not show that the file was cut; look for keys that all writers store.",
        flags=("silent-stale",),
    ),
]
