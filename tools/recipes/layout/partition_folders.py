"""Partition folders: keys with separators, columns that are only in folder names, and files that are not part of the table."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from tools.recipes.layout.layout import COLUMNS, FOLDERS, PARTED, row
from tools.recipes.recipe import COW, HUDI, Check, Recipe, Row, Step, Table, TableEdit, delete, recipe, stopped, upsert
from tools.recipes.rows import both_types as both_types_of
from tools.recipes.table_edits import PROPERTIES, add, copy, edit_file, find_file

GENERATOR = "hoodie.datasource.write.keygenerator.class"
DROPPED = {"hoodie.datasource.write.drop.partition.columns": "true"}
BY_TIME = {
    "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
    "hoodie.keygen.timebased.timezone": "UTC",
}
#: 2026-01-01 and, a day and a millisecond later, 2026-01-02.
NEW_YEAR, DAY_AFTER = 1767225600000, 1767312000001


def layout(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A recipe of the area layout, by Apache Hudi."""
    return recipe("layout", name, table, *steps, **{"producers": (HUDI,), **more})


def both_types(name: str, table: Table, *steps: Step, **more: Any) -> list[Recipe]:
    """The same for copy-on-write and merge-on-read."""
    return both_types_of("layout", name, table, *steps, **{"producers": (HUDI,), **more})


def by_time(pattern: str) -> dict[str, str]:
    """Settings of the key generator that computes folders from times by a Java date pattern."""
    name = "org.apache.hudi.keygen.TimestampBasedKeyGenerator"
    return {GENERATOR: name, **BY_TIME, "hoodie.keygen.timebased.output.dateformat": pattern}


GENERATORS = [
    *both_types(
        "partition.by-day-in-three-folders",
        Table(columns=(*COLUMNS, ("at", "long")), partition=("at",), options=by_time("yyyy/MM/dd")),
        upsert(row("a", 1, "first", at=NEW_YEAR), row("b", 1, "first", at=DAY_AFTER)),
        upsert(row("a", 2, "second", at=NEW_YEAR)),
        requirements=("LAY-008", "LAY-005", "LAY-009"),
        says="One partition field whose values become year/month/day makes three folder levels; the column stays a number.",
        if_it_fails=(
            "The reader used the number of partition fields as the depth of the folders, or took the value from their names."
        ),
        flags=("wrong-value", "lost-write"),
    ),
    layout(
        "partition.by-hour.hive-style",
        Table(columns=(*COLUMNS, ("at", "long")), partition=("at",), hive_style=True, options=by_time("yyyyMMddHH")),
        upsert(row("a", 1, "first", at=NEW_YEAR), row("b", 1, "first", at=DAY_AFTER)),
        upsert(row("b", 2, "second", at=DAY_AFTER)),
        requirements=("LAY-006", "LAY-008"),
        says="A folder named field=<formatted time> does not determine the value of the column.",
        if_it_fails="The value of the partition column was taken from the folder's name.",
        flags=("wrong-value",),
    ),
    *both_types(
        "partition.custom",
        Table(
            columns=(*PARTED, ("at", "long")),
            partition=("p:SIMPLE", "at:TIMESTAMP"),
            options={
                GENERATOR: "org.apache.hudi.keygen.CustomKeyGenerator",
                **BY_TIME,
                "hoodie.keygen.timebased.output.dateformat": "yyyyMMdd",
            },
        ),
        upsert(row("a", 1, "first", p="n", at=NEW_YEAR), row("b", 1, "first", p="s", at=DAY_AFTER)),
        upsert(row("a", 2, "second", p="n", at=NEW_YEAR)),
        requirements=("PROP-008", "LAY-008", "LAY-005"),
        says="Partition fields of the form field:TYPE name the fields; the type states how the folder names are made.",
        if_it_fails="hoodie.table.partition.fields was split only at its commas: remove the part after each colon.",
        flags=("wrong-value", "lost-write"),
    ),
    layout(
        "partition.null.hive-style",
        Table(columns=(*COLUMNS, ("y", "int"), ("p", "string")), partition=("y", "p"), hive_style=True),
        upsert(row("a", 1, "neither", y=None, p=None), row("b", 1, "no p", y=2026, p=None), row("c", 1, "no y", y=None, p="n")),
        upsert(row("b", 2, "still no p", y=2026, p=None)),
        requirements=("LAY-008", "LAY-006"),
        says="Null partition values on several folder levels are read as null.",
        if_it_fails="The folder field=__HIVE_DEFAULT_PARTITION__ stands for null; the value is in the file.",
        flags=("wrong-value",),
    ),
    layout(
        "partition.of-many-types",
        Table(
            columns=(*COLUMNS, ("yes", "boolean"), ("n", "long"), ("x", "double"), ("d", "decimal(9,2)")),
            partition=("yes", "n", "x", "d"),
            type=COW,
        ),
        upsert(
            row("a", 1, "first", yes=True, n=-5, x=0.5, d=Decimal("1.50")),
            row("b", 1, "first", yes=False, n=2**60, x=1e10, d=Decimal("-7.00")),
        ),
        upsert(row("a", 2, "second", yes=True, n=-5, x=0.5, d=Decimal("1.50"))),
        requirements=("LAY-005", "LAY-008", "PROP-016"),
        says="Partition values of the types boolean, number and decimal keep their types and values.",
        if_it_fails=FOLDERS,
        flags=("wrong-value",),
    ),
]


def dropping(name: str, columns: tuple[tuple[str, Any], ...], written: Sequence[Row], **more: Any) -> Recipe:
    """A table whose partition columns are only in folder names; Apache Hudi supports this for copy-on-write only."""
    fields = tuple(column for column, _ in columns)
    about = {key: more.pop(key) for key in ("hive_style", "url_encode") if key in more}
    table = Table(columns=(*COLUMNS, *columns), partition=fields, type=COW, options=DROPPED, **about)
    changed = [{**written[0], "ts": 2, "name": "changed"}]
    rules = ("LAY-007", "LAY-008")
    wrong = "The data files lack the partition columns: take the values from the partition path, with the types of the schema."
    given = {"requirements": rules, "if_it_fails": wrong, "flags": ("wrong-value",), "needs": ("partition.dropped-columns",)}
    return layout(f"dropped-columns.{name}", table, upsert(*written), upsert(*changed), **{**given, **more})


DROPPED_COLUMNS = [
    dropping(
        "text",
        (("p", "string"),),
        [row("a", 1, "first", p="north"), row("b", 1, "first", p="007")],
        says="A partition column that no file contains is read from the folder name, as text.",
    ),
    dropping(
        "of-types-that-nobody-stored",
        (("y", "int"), ("d", "date"), ("n", "long")),
        [
            row("a", 1, "first", y=2026, d=date(2026, 1, 2), n=-1),
            row("b", 1, "first", y=7, d=date(1969, 12, 31), n=2**40),
        ],
        hive_style=True,
        says="Partition columns that neither files nor schema contain are text, one folder level for each.",
        read_as=(("y", "string"), ("d", "string"), ("n", "string")),
        rows=(
            row("a", 2, "changed", y="2026", d="2026-01-02", n="-1"),
            row("b", 1, "first", y="7", d="1969-12-31", n=str(2**40)),
        ),
    ),
    dropping(
        "escaped",
        (("p", "string"),),
        [row("a", 1, "first", p="a/b=c"), row("b", 1, "first", p="50%"), row("c", 1, "first", p=None)],
        url_encode=True,
        says="The values of a dropped partition column are the unescaped folder names, and null for the default folder.",
    ),
]


def marker_names(folder: Path, instant: str) -> list[str]:
    """The markers of the data files of an instant: MERGE for a base file that replaces an earlier one, otherwise CREATE."""
    files = sorted(f for f in folder.glob("*/*") if instant in f.name and f.suffix != ".crc")
    return [f"{f.relative_to(folder)}.marker.{'MERGE' if _is_rewrite(f) else 'CREATE'}" for f in files]


def _is_rewrite(file: Path) -> bool:
    group = file.name.partition("_")[0]
    return file.suffix == ".parquet" and len(list(file.parent.glob(f"{group}_*.parquet"))) > 1


def direct_markers(step: int) -> TableEdit:
    """Direct markers: one empty file for each data file, which a writer keeps until it completes."""

    def act(folder: Path, instants: Sequence[str]) -> None:
        for name in marker_names(folder, instants[step]):
            add(f".hoodie/.temp/{instants[step]}/{name}")(folder, instants)

    return act


def listed_markers(step: int) -> TableEdit:
    """Markers in list files, as a timeline server writes them."""

    def act(folder: Path, instants: Sequence[str]) -> None:
        home = f".hoodie/.temp/{instants[step]}"
        add(f"{home}/MARKERS.type", "TIMELINE_SERVER_BASED")(folder, instants)
        for number, name in enumerate(marker_names(folder, instants[step])):
            add(f"{home}/MARKERS{number}", f"{name}\n")(folder, instants)

    return act


def backup_of_an_older_version(folder: Path, instants: Sequence[str]) -> None:
    """A backup of the properties that an update left, with an outdated value."""
    copy(str(PROPERTIES), lambda path, _: f"{path}.backup")(folder, instants)
    edit_file(f"{PROPERTIES}.backup", lambda content: content.replace(b"_READ", b"_MOON"))(folder, instants)


def temporary_instant(folder: Path, instants: Sequence[str]) -> None:
    """A completed file under the temporary name that a writer uses until the file is complete."""
    file = find_file(folder, ".hoodie/timeline/{1}_*".format(*instants))
    (file.parent / f"{file.name}.3f1c7a52-8f0e-4d2b-9f43-0123456789ab").write_bytes(file.read_bytes()[:100])


#: Files of other programs in reserved folders and in partition folders.
ABOUT = (
    add(".hoodie/.heartbeat/{1}"),
    add(".hoodie/.heartbeat/20200101000000000"),
    add(".hoodie/lock"),
    add(".hoodie/.locks/table_lock.json", '{"expired": false, "validUntil": 1}'),
    add(".hoodie/.aux/.sample_writes/20200101000000000/part.parquet", b"PAR1"),
    add(".hoodie/.schema/notes.txt", "no schema\n"),
    add(".hoodie/.schema/20200101000000000.schemacommit.requested"),
    add(".hoodie/.index_defs/index.json.tmp", "{"),
    add(".hoodie/.bucket_index/consistent_hashing_metadata/readme", "nothing\n"),
    add(".hoodie/archived/.commits_.archive.1_1-0-1", b"an archive of older tables"),
    add(".hoodie/20200101000000000.commit", "{}"),
    add(".hoodie/timeline/.{1}.inflight.swp", b"b0VIM\x00"),
    add(".hoodie/timeline/20200101000000000_20200101000000001.commit.0a1b2c3d-0000-4000-8000-000000000000"),
    add(".hoodie/timeline/history/20200101000000000_20200101000000001_0.parquet", b"PAR1"),
    add(".hoodie/timeline/history/_version_.tmp", "9"),
    add(".hoodie/timeline/notes/20200101000000000_20200101000000001.commit"),
    add(".hoodie/metadata.tmp/files/file"),
    add(".hoodie/north/part-00000.parquet", b"PAR1"),
    add("north/.hoodie_partition_metadata_3.tmp", "commitTime"),
    add("north/_temporary/0/part-00000.parquet", b"PAR1"),
    add("north/._copy.parquet", b"\x00\x05\x16\x07"),
    add(".staging/north/part-00000.parquet", b"PAR1"),
    add("_delta_log/00000000000000000000.json", "{}"),
    add("README.md", "a table\n"),
)  # fmt: skip


def recipes_with_foreign_files(
    name: str, says: str, *edits: TableEdit, rules: tuple[str, ...], until: Any = None
) -> list[Recipe]:
    """A table with two commits, optionally a pending write, and files that are not part of the table."""
    steps: list[Step] = [
        upsert(row("a", 1, "first", p="north"), row("b", 1, "first", p="south")),
        upsert(row("a", 2, "second", p="north")),
    ]
    under_way = stopped(upsert(row("a", 3, "under way", p="north"), row("c", 3, "under way", p="east")), "inflight")
    more: list[Step] = [under_way] if until else []
    wrong = "The timeline names the files of the table; other files in its folders are ignored."
    table = Table(columns=PARTED, partition=("p",))
    check = Check(requirements=rules, says=says, if_it_fails=wrong, flags=("dirty-read", "lost-write"))
    timeline = replace(
        check, name="timeline", timeline=True, flags=(), requirements=("TL-033", "LAY-011", "LAY-017"),
        says=f"{says} The timeline shows only its own files.",
    )  # fmt: skip
    return both_types(f"lying-about.{name}", table, *steps, *more, edits=edits, checks=(check, timeline))


LYING_ABOUT = [
    *recipes_with_foreign_files(
        "everything",
        "Heartbeats, locks, samples, temporary and foreign files and folders have no effect, wherever they are.",
        *ABOUT,
        backup_of_an_older_version,
        temporary_instant,
        rules=("LAY-011", "LAY-012", "LAY-019", "TL-033"),
    ),
    *recipes_with_foreign_files(
        "markers-of-a-write-under-way",
        "The data files of a write in progress are not read, although each has a marker file.",
        direct_markers(2),
        add(".hoodie/.heartbeat/{2}"),
        rules=("LAY-011", "TL-033", "RDR-008"),
        until="inflight",
    ),
    *recipes_with_foreign_files(
        "lists-of-markers-of-a-write-under-way",
        "The data files of a write in progress are not read, although marker lists name them.",
        listed_markers(2),
        add(".hoodie/.heartbeat/{2}"),
        rules=("LAY-011", "TL-033", "RDR-008"),
        until="inflight",
    ),
    *recipes_with_foreign_files(
        "markers-of-a-completed-write",
        "Markers that a completed write left behind do not hide its files.",
        direct_markers(1),
        rules=("LAY-011", "TL-033"),
    ),
]

METAFILES = [
    *both_types(
        "partition-metadata-as-parquet",
        Table(columns=PARTED, partition=("p",), options={"hoodie.partition.metafile.use.base.format": "true"}),
        upsert(row("a", 1, "first", p="north"), row("b", 1, "first", p="south")),
        upsert(row("a", 2, "second", p="north")),
        delete({"id": "b", "p": "south"}),
        requirements=("LAY-003", "LAY-019"),
        says="A partition metadata file in Parquet format marks a partition and has no rows of the table.",
        if_it_fails=".hoodie_partition_metadata.parquet is not a data file; its folder is a partition.",
        flags=("lost-write",),
    ),
]

RECIPES = [*GENERATORS, *DROPPED_COLUMNS, *LYING_ABOUT, *METAFILES]
