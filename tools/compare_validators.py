"""What each validator finds: this project's and the procedures of Apache Hudi, on the same damaged tables.

`python -m tools.compare_validators [--version 1.2.0]` prints the table of docs/validate.md. It needs the Python environment of
the engine `apache-hudi`, with PySpark and Java. A sound table is written, copied and damaged once for each row.

Of the procedures of the bundle two examine a table: `validate_metadata_table_files` and `show_invalid_parquet`. The others
(`show_fs_path_detail`, `show_file_status`, `stats_file_sizes`) list what is there without a judgement, or need a Hive server
(`validate_hoodie_sync`). A query of all rows is the last column.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_conformance.engines.apache_hudi.jvm.session import Session
from hudi_conformance.validator.all_checks import ALL, CHEAP
from hudi_conformance.validator.checks.finding import UNSOUND
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference import create_table
from hudi_reference.timeline.contents.actions import read_action, write_action
from hudi_reference.timeline.instants.instant import parse_instant_name

SCHEMA = {
    "type": "record",
    "name": "trip",
    "fields": [{"name": "id", "type": "string"}, {"name": "city", "type": "string"}, {"name": "fare", "type": "long"}],
}
INDEXES = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
}
COLUMNS = (
    "damage", "validate", "validate --deep", "validate_metadata_table_files", "show_invalid_parquet", "a query of all rows",
)  # fmt: skip
NOTHING, FAILED = "–", "fails"


def make_table(folder: Path) -> None:
    """A sound copy-on-write table of two writes in two partitions, with indexes."""
    table = create_table(
        folder.as_uri(), name="compared", schema=SCHEMA, record_key=("id",), partition=("city",), options=INDEXES
    )
    for fare in (1, 2):
        table.upsert(pa.table({"id": ["a", "b", "c", "d"], "city": ["n", "n", "s", "s"], "fare": [fare] * 4}))


def base_files(folder: Path) -> list[Path]:
    """The base files of the data table, oldest first."""
    return sorted((one for part in ("n", "s") for one in (folder / part).glob("*.parquet")), key=lambda p: p.name[-25:])


def completed(folder: Path) -> Path:
    """The completed file of the last write."""
    return sorted((folder / ".hoodie/timeline").glob("*_*.commit"))[-1]


def change_partition(folder: Path) -> None:
    """The rows of the newest file name another partition."""
    path = base_files(folder)[-1]
    rows, metadata = pq.read_table(path), pq.read_schema(path).metadata
    number = rows.column_names.index("_hoodie_partition_path")
    changed = rows.set_column(number, "_hoodie_partition_path", pa.array(["x"] * rows.num_rows))
    pq.write_table(changed.replace_schema_metadata(metadata), path)


def truncate(path: Path, size: int) -> None:
    """Keep only the first bytes."""
    path.write_bytes(path.read_bytes()[:size])


def lose_column(folder: Path) -> None:
    """The schema in the metadata of the last write lacks a column that its files have."""
    path = completed(folder)
    instant = parse_instant_name(path.name)
    assert instant is not None
    record: Any = read_action(path.read_bytes(), path.name, instant)
    schema = json.loads(record["extraMetadata"]["schema"])
    schema["fields"] = [one for one in schema["fields"] if one["name"] != "fare"]
    record["extraMetadata"]["schema"] = json.dumps(schema)
    path.write_bytes(write_action(instant, record, bytes(16)))


def complete_early(folder: Path) -> None:
    """The last write completed a millisecond after its request, and before it updated the metadata table."""
    path = completed(folder)
    requested = path.name.partition("_")[0]
    path.rename(path.with_name(f"{requested}_{int(requested) + 1:017}.commit"))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "none": lambda folder: None,
    "a base file is lost": lambda folder: base_files(folder)[-1].unlink(),
    "a base file of the state before is lost": lambda folder: base_files(folder)[0].unlink(),
    "a base file is cut": lambda folder: truncate(base_files(folder)[-1], 100),
    "a base file has rows of another partition": change_partition,
    "a file that no write stored": lambda folder: shutil.copy(
        base_files(folder)[-1], base_files(folder)[-1].with_name("0" * 8 + base_files(folder)[-1].name[8:])
    ),
    "commit metadata is cut": lambda folder: truncate(completed(folder), 100),
    "the schema of the last write lacks a column": lose_column,
    "the last write completed before its update of the metadata table": complete_early,
    "the completed file of the last write is lost": lambda folder: completed(folder).unlink(),
    "the listing of the metadata table lacks the last write": lambda folder: [
        one.unlink() for one in sorted((folder / ".hoodie/metadata/files").glob(".files*.log.*"))[-1:]
    ],
    "the checksum of the properties is wrong": lambda folder: (folder / ".hoodie/hoodie.properties").write_text(
        (folder / ".hoodie/hoodie.properties").read_text().replace("hoodie.table.checksum=", "hoodie.table.checksum=1")
    ),
}


def ours(folder: Path, *, deep: bool) -> str:
    """The rules of the findings of wrong answers and lost data; those of other findings in brackets."""
    found = validate(load_table(str(folder)), ALL if deep else CHEAP).findings
    worst = sorted({one.rule for one in found if one.severity in UNSOUND})
    others = sorted({f"({one.rule})" for one in found if one.severity not in UNSOUND} - {f"({rule})" for rule in worst})
    return ", ".join((*worst, *others)) or NOTHING


def theirs(session: Session, statement: str) -> str:
    """What a statement of Spark SQL shows: the number of its rows, or the class of its error."""
    try:
        rows = session.spark.sql(statement).collect()
    except Exception as error:  # any error of Spark is an answer here
        java = getattr(error, "java_exception", None)
        return f"{FAILED}: {java.getClass().getSimpleName() if java else type(error).__name__}"
    return f"{len(rows)} rows" if rows else NOTHING


def main() -> None:
    """Compare and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--version", default="1.2.0")
    session = Session(arguments.parse_args().version)
    print(
        "| damage | validate | validate --deep | validate_metadata_table_files | show_invalid_parquet | a query of all rows |"
    )
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        make_table(Path(work, "sound"))
        for number, (name, damage) in enumerate(DAMAGES.items()):
            folder = Path(shutil.copytree(Path(work, "sound"), Path(work, f"t{number}")))
            damage(folder)
            cells = [ours(folder, deep=False), ours(folder, deep=True)]
            created = theirs(session, f"CREATE TABLE t{number} USING hudi LOCATION '{folder.as_uri()}'")
            of_table = partial(theirs, session) if created == NOTHING else lambda statement, why=created: why
            cells.append(of_table(f"CALL validate_metadata_table_files(table => 't{number}')"))
            cells.append(theirs(session, f"CALL show_invalid_parquet(path => '{folder.as_uri()}', limit => 100)"))
            cells.append(of_table(f"SELECT * FROM t{number}"))
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
