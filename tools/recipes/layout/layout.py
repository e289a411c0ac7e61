"""Layout: folders, names, properties, and tables that must be refused."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from tools.recipes.recipe import (
    COW,
    HUDI,
    HUDI_1_2,
    MOR,
    REFERENCE,
    UNDECIDED,
    Recipe,
    Row,
    Step,
    Table,
    TableEdit,
    TableType,
    delete,
    insert,
    insert_overwrite,
    recipe,
    upsert,
)
from tools.recipes.rows import COLUMNS, PARTED, both_types
from tools.recipes.table_edits import PROPERTIES, add, copy, edit_file, find_file, remove, set_property, truncate_file


def row(key: str, ts: int, name: str, **more: Any) -> Row:
    """A version of record `key`."""
    return {"id": key, "ts": ts, "name": name, **more}


FIRST = upsert(row("a", 1, "first"), row("b", 1, "first"))
SECOND = upsert(row("a", 2, "second"))
MOR_PARTED = Table(columns=PARTED, partition=("p",))
COW_PARTED = MOR_PARTED.having(type=COW)
NORTH_AND_SOUTH = upsert(row("a", 1, "first", p="north"), row("b", 1, "first", p="south"))
NORTH_AGAIN = upsert(row("a", 2, "second", p="north"))


def layout(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A recipe of this area."""
    return recipe("layout", name, table, *steps, **more)


FOLDERS = "Print the file groups by partition (inspect): each data folder must be listed, under the right path."
#: Values that are folder names without escaping, and values that must be escaped.
AWKWARD = ("plain", "a b", "a=b", "50%", "a:b", "straße", "[x]{y}^#?")

PARTITIONS = [
    *both_types(
        "layout",
        "partition.none",
        Table(columns=COLUMNS),
        FIRST,
        SECOND,
        delete({"id": "b"}),
        requirements=("LAY-010", "LAY-018", "LAY-020"),
        says="The data files of a table without partitions are in its base folder.",
        if_it_fails=FOLDERS,
        flags=("lost-write",),
    ),
    *both_types(
        "layout",
        "partition.plain",
        MOR_PARTED,
        NORTH_AND_SOUTH,
        upsert(row("a", 2, "second", p="north"), row("c", 2, "new partition", p="east")),
        requirements=("LAY-003", "LAY-018", "LAY-007", "PROP-008", "PROP-016"),
        says="Each partition value has a folder of its name; a query reads all of them.",
        if_it_fails=FOLDERS,
        flags=("lost-write",),
    ),
    *both_types(
        "layout",
        "partition.hive-style",
        Table(columns=PARTED, partition=("p",), hive_style=True),
        NORTH_AND_SOUTH,
        upsert(row("b", 2, "second", p="south")),
        requirements=("LAY-006", "LAY-007", "LAY-008"),
        says="Folders named field=value are read like other partition folders; the column is in the files.",
        if_it_fails="The value of the partition column was taken from the folder's name, or appears twice.",
        flags=("wrong-value",),
    ),
    layout(
        "partition.several-levels",
        Table(columns=(*COLUMNS, ("y", "int"), ("p", "string")), partition=("y", "p")),
        upsert(row("a", 1, "first", y=2025, p="north"), row("b", 1, "first", y=2026, p="north")),
        upsert(row("a", 2, "second", y=2025, p="north"), row("c", 1, "first", y=2026, p="south")),
        requirements=("LAY-005", "LAY-008", "PROP-016"),
        says="Two partition fields make two folder levels; the columns keep their types.",
        if_it_fails=FOLDERS,
        flags=("lost-write",),
    ),
    layout(
        "partition.several-levels.hive-style",
        Table(columns=(*COLUMNS, ("y", "int"), ("p", "string")), partition=("y", "p"), hive_style=True, type=COW),
        upsert(row("a", 1, "first", y=2025, p="north"), row("b", 1, "first", y=2026, p="north")),
        upsert(row("a", 2, "second", y=2025, p="north")),
        requirements=("LAY-005", "LAY-006", "LAY-008"),
        says="Two folder levels with names of the form field=value are read.",
        if_it_fails=FOLDERS,
        flags=("lost-write",),
    ),
    layout(
        "partition.url-encoded",
        Table(columns=PARTED, partition=("p",), url_encode=True),
        upsert(*(row(f"k{n}", 1, value, p=value) for n, value in enumerate((*AWKWARD, "a/b")))),
        upsert(*(row(f"k{n}", 2, f"{value} again", p=value) for n, value in enumerate((*AWKWARD, "a/b")))),
        requirements=("LAY-008", "LAY-018", "META-009"),
        says="Partition folders with escaped names are read; the values come from the records.",
        if_it_fails="Folder names were unescaped before the file was opened, or the value was taken from the name.",
        flags=("lost-write",),
    ),
    layout(
        "partition.hive-style-and-url-encoded",
        Table(columns=PARTED, partition=("p",), url_encode=True, hive_style=True, type=COW),
        upsert(*(row(f"k{n}", 1, value, p=value) for n, value in enumerate(("a=b", "a/b", "50%")))),
        requirements=("LAY-006", "LAY-008"),
        says="Rows in folders with escaped names of the form field=value are read with the values of the records.",
        if_it_fails="Folder names were unescaped before the file was opened, or the value was taken from the name.",
        flags=("lost-write",),
    ),
    layout(
        "partition.slashes-make-folders",
        MOR_PARTED,
        upsert(row("a", 1, "one level", p="x"), row("b", 1, "two levels", p="y/z"), row("c", 1, "three", p="y/u/v")),
        upsert(row("b", 2, "two levels again", p="y/z"), row("c", 2, "three again", p="y/u/v")),
        requirements=("LAY-009", "LAY-005"),
        says=(
            "An unescaped slash in a partition value makes folder levels, so that partitions of one table have "
            "different depths."
        ),
        if_it_fails="The reader used the number of partition fields as the depth of the folders.",
        flags=("lost-write",),
    ),
    *both_types(
        "layout",
        "partition.null",
        MOR_PARTED,
        upsert(row("a", 1, "no partition value", p=None), row("b", 1, "first", p="north")),
        upsert(row("a", 2, "still none", p=None)),
        requirements=("LAY-008",),
        says="A null partition value is read as null, whatever the name of its folder.",
        if_it_fails="The folder __HIVE_DEFAULT_PARTITION__ stands for null; the value is in the file.",
        flags=("wrong-value",),
    ),
    layout(
        "partition.empty-text",
        MOR_PARTED,
        upsert(row("a", 1, "empty text", p=""), row("b", 1, "first", p="north")),
        upsert(row("b", 2, "second", p="north")),
        producers=(HUDI,),
        requirements=("LAY-008",),
        says="An empty text as partition value is read as an empty text, although its folder is the folder of null.",
        if_it_fails="The value was taken from the folder's name; it is in the file.",
        flags=("wrong-value",),
    ),
    layout(
        "partition.by-time",
        Table(
            columns=(*COLUMNS, ("at", "long")),
            partition=("at",),
            type=COW,
            options={
                "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
                "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
                "hoodie.keygen.timebased.output.dateformat": "yyyy-MM-dd",
                "hoodie.keygen.timebased.timezone": "UTC",
            },
        ),
        upsert(row("a", 1, "first", at=1767225600000), row("b", 1, "first", at=1767312000001)),
        upsert(row("a", 2, "second", at=1767225600000)),
        producers=(HUDI,),
        requirements=("LAY-008", "PROP-016"),
        says="A folder named after a formatted time does not determine the column, which stays a number of milliseconds.",
        if_it_fails="The value or the type of the partition column was taken from the folder's name.",
        flags=("wrong-value",),
    ),
    layout(
        "partition.unicode",
        MOR_PARTED,
        upsert(row("a", 1, "first", p="日本"), row("b", 1, "first", p="ÅÄÖ")),
        upsert(row("a", 2, "second", p="日本")),
        requirements=("LAY-018", "META-009"),
        says="Partition folders may have names with non-ASCII characters.",
        if_it_fails="The path was escaped twice between listing and opening the file.",
        flags=("lost-write",),
    ),
    layout(
        "partition.date-column",
        Table(columns=(*COLUMNS, ("d", "date")), partition=("d",)),
        upsert(row("a", 1, "first", d=date(2026, 1, 2)), row("b", 1, "first", d=date(1969, 12, 31))),
        upsert(row("a", 2, "second", d=date(2026, 1, 2))),
        requirements=("LAY-008", "PROP-016"),
        says="A partition column of type date is a date in the result, not the text of the folder name.",
        if_it_fails="The value of the partition column was taken from the folder's name.",
        flags=("wrong-value",),
    ),
]


def older_content_of_another_attempt(path: str, instants: Sequence[str]) -> str:
    """The name of a base file of the second commit with another write token."""
    return f"{path.partition('_')[0]}_9-9-9_{instants[1]}.parquet"


OTHERS = [
    *both_types(
        "layout",
        "foreign-files",
        MOR_PARTED,
        NORTH_AND_SOUTH,
        NORTH_AGAIN,
        edits=(
            add("north/README.md", "not a data file\n"),
            add("north/_SUCCESS"),
            add("north/.stray.swp", b"\x00"),
            add("north/notes.parquet.tmp", b"PAR1"),
            add("spare/data.csv", "id,ts\n"),
        ),
        requirements=("LAY-019",),
        says="Files that are not data files, and folders that are not partitions, do not affect the rows.",
        if_it_fails="Match the whole file name with the grammar of base and log files; ignore files that do not match.",
        flags=("lost-write",),
    ),
    layout(
        "foreign-folder-in-a-partition",
        MOR_PARTED,
        NORTH_AND_SOUTH,
        NORTH_AGAIN,
        edits=(add("north/notes/readme.txt", "not a partition\n"),),
        requirements=("LAY-019", "LAY-009"),
        says="A folder inside a partition that is not itself a partition does not hide the files of the partition.",
        if_it_fails="The reader treated only the deepest folders as partitions; a partition metadata file marks a partition.",
        flags=("lost-write",),
    ),
    layout(
        "base-file-of-another-attempt",
        Table(columns=COLUMNS, type=COW),
        FIRST,
        SECOND,
        edits=(copy("*_{0}.parquet", older_content_of_another_attempt),),
        requirements=("BF-008", "BF-005", "BF-006"),
        says="A base file of a failed attempt of a completed instant is not read.",
        if_it_fails="Two base files of one instant differ in the write token; the commit metadata names the right one.",
        flags=("silent-stale",),
    ),
    layout(
        "folder-without-partition-metadata",
        COW_PARTED,
        NORTH_AND_SOUTH,
        edits=(remove("south/.hoodie_partition_metadata"),),
        requirements=("LAY-003",),
        says=(
            "It is open whether a partition folder without a partition metadata file is read; the commit metadata "
            "names its files."
        ),
        **UNDECIDED,
    ),
    layout(
        "no-record-key",
        Table(columns=(("ts", "long"), ("name", "string")), record_key=(), ordering=(), type=COW),
        insert({"ts": 1, "name": "one"}, {"ts": 1, "name": "one"}),
        insert({"ts": 2, "name": "two"}),
        producers=(HUDI,),
        requirements=("PROP-015", "PROP-007"),
        says="Equal rows of a table without record key, ordering and partition fields are separate records.",
        if_it_fails="The writer makes the keys of such a table and stores them in _hoodie_record_key.",
        flags=("lost-write",),
    ),
    layout(
        "no-meta-fields.cow",
        Table(columns=PARTED, partition=("p",), type=COW, options={"hoodie.populate.meta.fields": "false"}),
        NORTH_AND_SOUTH,
        NORTH_AGAIN,
        producers=(HUDI,),
        needs=("meta-fields.absent",),
        requirements=("META-012",),
        says="A copy-on-write table whose meta fields are empty is read like any other table.",
        if_it_fails="A snapshot of base files does not need the meta columns.",
        flags=("lost-write",),
    ),
    layout(
        "no-meta-fields.mor",
        Table(columns=COLUMNS, options={"hoodie.populate.meta.fields": "false"}),
        FIRST,
        SECOND,
        producers=(HUDI,),
        needs=("meta-fields.absent",),
        requirements=("META-012", "MRG-014"),
        says="A merge-on-read table whose meta fields are empty is merged by its key columns.",
        if_it_fails="Without _hoodie_record_key take the key from the columns that hoodie.table.recordkey.fields names.",
        flags=("lost-write",),
    ),
    layout(
        "with-metadata-table",
        Table(columns=PARTED, partition=("p",), options={"hoodie.metadata.enable": "true"}),
        NORTH_AND_SOUTH,
        NORTH_AGAIN,
        producers=(HUDI,),
        requirements=("LAY-014", "LAY-012", "RDR-018"),
        says="The metadata table below .hoodie is not part of the data; the rows are the same with and without it.",
        if_it_fails="Folders below .hoodie were listed as partitions, or the files index was misread.",
        flags=("lost-write",),
    ),
    layout(
        "properties.unknown-and-comments",
        Table(columns=COLUMNS, type=COW),
        upsert(row("a", 1, "first")),
        edits=(
            edit_file(
                str(PROPERTIES),
                lambda content: b"! a comment\n\n  # another\n" + content + b"acme.owner = someone\nacme.long=a\\\n   b\n",
            ),
        ),
        requirements=("PROP-001", "PROP-011"),
        says="Comments, blank lines, continued lines and unknown keys of the properties file do not affect the rows.",
        if_it_fails="The file has the syntax of Java properties.",
        flags=("lost-write",),
    ),
    layout(
        "properties.only-the-backup",
        Table(columns=COLUMNS, type=COW),
        upsert(row("a", 1, "first")),
        edits=(
            copy(str(PROPERTIES), lambda path, _: f"{path}.backup"),
            remove(str(PROPERTIES)),
        ),
        requirements=("PROP-001", "LAY-013"),
        says="It is open whether a reader uses the backup of the properties while a writer replaces the properties file.",
        **UNDECIDED,
    ),
    layout(
        "properties.without-checksum",
        Table(columns=COLUMNS, type=COW),
        upsert(row("a", 1, "first")),
        edits=(set_property("hoodie.table.checksum", None),),
        requirements=("PROP-011",),
        says="A properties file without a checksum is read, because older writers stored none.",
        if_it_fails="A missing checksum is not a wrong checksum.",
        errata=("ER-020",),
        flags=("lost-write",),
    ),
]


def altered(name: str, says: str, *edits: TableEdit, kind: TableType = COW, **more: Any) -> Recipe:
    """Two commits and edits after them; a reader must not guess."""
    table, steps = more.pop("table", Table(columns=COLUMNS, type=kind)), more.pop("steps", (FIRST, SECOND))
    return layout(name, table, *steps, edits=edits, says=says, **{"flags": ("silent-guess",), **more})


def refusal(name: str, says: str, feature: str, *edits: TableEdit, **more: Any) -> Recipe:
    """A table that resembles a supported one and must be refused."""
    cure = "The table was read by rules that may not hold for it; check the property first and name it in the refusal."
    return altered(f"refuse.{name}", says, *edits, refused=feature, producers=(HUDI,), if_it_fails=cure, **more)


REFUSALS = [
    layout(
        "refuse.table-version-9",
        Table(columns=COLUMNS, type=MOR, options={"hoodie.write.table.version": "9"}),
        upsert(row("a", 10, "first"), row("b", 1, "first")),
        upsert(row("a", 9, "late")),
        producers=(HUDI_1_2,),
        requirements=("COMPAT-002", "COMPAT-004", "PROP-006"),
        says="A table of version 9 is refused, unless the engine supports version 9 and returns the right rows.",
        refused="table-version",
        or_rows=True,
        if_it_fails=(
            "The table was read by rules that may not hold for it; check the version first and name it in the refusal."
        ),
        flags=("silent-guess", "silent-stale"),
    ),
    refusal(
        "table-version-99",
        "A table of version 99, which does not exist, is refused.",
        "table-version",
        set_property("hoodie.table.version", "99"),
        requirements=("COMPAT-002", "COMPAT-004", "PROP-006"),
    ),
    refusal(
        "table-version-5",
        "A table of version 8 layout that states version 5 is refused, or at least not read by the rules of version 8.",
        "table-version",
        set_property("hoodie.table.version", "5"),
        requirements=("COMPAT-001", "COMPAT-002", "PROP-006"),
    ),
    refusal(
        "timeline-layout-99",
        "An unknown timeline layout is refused.",
        "timeline-layout",
        set_property("hoodie.timeline.layout.version", "99"),
        requirements=("PROP-010",),
    ),
    refusal(
        "unknown-merge-strategy",
        "A merge-on-read table with an unknown custom merge strategy is refused.",
        "merge-strategy",
        set_property("hoodie.record.merge.mode", "CUSTOM"),
        set_property("hoodie.record.merge.strategy.id", "0badf00d-dead-4bad-8bad-0123456789ab"),
        requirements=("MRG-035", "MRG-031"),
        kind=MOR,
    ),
]


def broken(name: str, error: str, says: str, *edits: TableEdit, **more: Any) -> Recipe:
    """A damaged table: an error is right, and rows are wrong."""
    about = {
        "producers": (REFERENCE,),
        "if_it_fails": "The reader ignored the damage; it should report the file, the rule and the damage.",
    }
    return altered(f"broken.{name}", says, *edits, error=error, **{**about, **more})


LAST_BASE_FILE = "*_{1}.parquet"
LAST_COMPLETED = ".hoodie/timeline/{1}_*.commit"


def without_table(folder: Path, _: Sequence[str]) -> None:
    """Delete the table and leave its folder."""
    for file in sorted(folder.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    (folder / "README.txt").write_text("no table here\n")


def path_in_metadata(old: bytes, new: bytes) -> Any:
    """TableEdit: replace a text in the metadata of the last completed commit by another one of the same length."""
    assert len(old) == len(new), "Avro strings carry their length"
    return edit_file(LAST_COMPLETED, lambda content: content.replace(old, new))


def escaping_file_name(folder: Path, instants: Sequence[str]) -> None:
    """Change the metadata of the last commit, so that it names a base file outside of the folder of the table."""
    name = find_file(folder, LAST_BASE_FILE.format(*instants)).name
    edit_file(LAST_COMPLETED, lambda content: content.replace(name.encode(), ("../" + name[3:]).encode()))(folder, instants)


BROKEN = [
    broken(
        "no-table",
        "table",
        "A folder without .hoodie is an error, not a table without rows.",
        without_table,
        requirements=("LAY-011", "LAY-013"),
    ),
    broken(
        "properties.missing",
        "properties",
        "A table without a properties file is an error.",
        remove(str(PROPERTIES)),
        requirements=("LAY-013", "PROP-001"),
    ),
    broken(
        "properties.cut",
        "properties",
        "A truncated properties file is an error.",
        edit_file(str(PROPERTIES), lambda content: content[: content.index(b"hoodie.table.version")]),
        requirements=("PROP-011", "PROP-006"),
    ),
    broken(
        "properties.wrong-checksum",
        "properties",
        "A properties file whose checksum does not match its names is an error.",
        set_property("hoodie.table.checksum", "12345"),
        requirements=("PROP-011",),
        producers=(HUDI,),
    ),
    *(
        broken(f"properties.{name}", "properties", says, set_property(f"hoodie.table.{key}", value), requirements=rules)
        for name, key, value, rules, says in (
            (
                "no-table-type",
                "type",
                None,
                ("PROP-005", "PROP-002"),
                "A table without a table type is an error; no type is assumed.",
            ),
            ("no-table-name", "name", None, ("PROP-004", "PROP-002"), "A table without a name is an error."),
            ("unknown-table-type", "type", "MERGE_ON_MOON", ("PROP-005",), "An unknown table type is an error."),
        )
    ),
    broken(
        "properties.unknown-merge-mode",
        "properties",
        "An unknown merge mode is an error.",
        set_property("hoodie.record.merge.mode", "LATEST_MOON_PHASE"),
        requirements=("MRG-016",),
        kind=MOR,
    ),
    broken(
        "commit-metadata.cut",
        "commit-metadata",
        "A truncated file of a completed commit is an error; the commit is not ignored.",
        truncate_file(LAST_COMPLETED, 0.5),
        requirements=("TL-002", "TL-007"),
        producers=(HUDI,),
    ),
    broken(
        "commit-metadata.junk",
        "commit-metadata",
        "A completed commit file that is not Avro is an error.",
        edit_file(LAST_COMPLETED, lambda _: b"this is not an Avro file"),
        requirements=("TL-002", "TL-007"),
    ),
    broken(
        "commit-metadata.cut.mor",
        "commit-metadata",
        "A truncated file of a completed deltacommit is an error; its log files are not ignored.",
        truncate_file(".hoodie/timeline/{1}_*.deltacommit", 0.5),
        requirements=("TL-002", "TL-009"),
        producers=(HUDI,),
        kind=MOR,
    ),
    broken(
        "replace-metadata.cut",
        "commit-metadata",
        "A truncated file of a completed replacecommit is an error, because the replaced file groups are unknown.",
        truncate_file(".hoodie/timeline/{1}_*.replacecommit", 0.5),
        requirements=("TL-002", "TL-012"),
        producers=(HUDI,),
        table=COW_PARTED,
        steps=(NORTH_AND_SOUTH, insert_overwrite(row("c", 1, "instead", p="north"))),
        if_it_fails="The reader ignored the damage, so that replaced rows are returned or new rows are missing.",
    ),
    broken(
        "base-file.missing",
        "base-file",
        "A missing base file of a completed commit is an error; the older base file is not read in its place.",
        remove(LAST_BASE_FILE),
        requirements=("TL-036", "TYP-007"),
        producers=(HUDI,),
    ),
    broken(
        "base-file.cut",
        "base-file",
        "A base file without a footer is an error.",
        truncate_file(LAST_BASE_FILE, 0.7),
        requirements=("BF-002", "TL-036"),
        producers=(HUDI,),
    ),
    broken(
        "base-file.not-parquet",
        "base-file",
        "A base file whose content is not Parquet is an error.",
        edit_file(LAST_BASE_FILE, lambda _: b"id,ts,name\na,2,second\n"),
        requirements=("BF-002", "BF-010"),
        producers=(HUDI,),
    ),
    broken(
        "base-file.empty",
        "base-file",
        "A base file of zero bytes is an error.",
        edit_file(LAST_BASE_FILE, lambda _: b""),
        requirements=("BF-002", "TL-036"),
    ),
    broken(
        "path.leads-outside",
        "path",
        "Commit metadata that names a file outside of the table's folder is an error for an engine that reads that file.",
        escaping_file_name,
        requirements=("LAY-018",),
        open=True,
        if_it_fails="An engine that lists folders never uses the name, so answers are recorded and no engine fails.",
    ),
]

RECIPES = [*PARTITIONS, *OTHERS, *REFUSALS, *BROKEN]
