"""Files of the timeline history and manifests: those of Apache Hudi, and some built with a general Parquet library.

The expected content of the files of Apache Hudi follows from the names of the actions' files before they were archived, and
from the recipe of their table.
"""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tools.corpus.avro_bytes import encode_datum
from tools.corpus.case import FileCase
from tools.corpus.timeline.action_files import FIXTURES, Json
from tools.corpus.timeline.avro_containers import deployed_schema, encode_container

HISTORY = "table/.hoodie/timeline/history"
COMMIT = "commit.completed"


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    yield from hudi_files()
    yield from hudi_manifests()
    yield from handmade_files()
    yield from manifests()


def instant_time(second: int) -> str:
    """An instant time."""
    return f"202601010000{second:02}000"


def history_row(
    second: int, action: str = "commit", metadata: bytes | None = None, plan: bytes | None = None, end: int | None = None
) -> dict[str, Any]:
    """A row of a history file: requested at that second, completed half a second or `end` seconds later."""
    completion = instant_time(second)[:14] + "500" if end is None else instant_time(end)
    return {
        "instantTime": instant_time(second),
        "completionTime": completion,
        "action": action,
        "metadata": metadata,
        "plan": plan,
        "version": 1,
    }


COLUMNS = pa.schema(
    [("instantTime", pa.string()), ("completionTime", pa.string()), ("action", pa.string()), ("metadata", pa.binary()),
     ("plan", pa.binary()), pa.field("version", pa.int32(), nullable=False)]
)  # fmt: skip


_LARGE = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
LARGE = pa.schema([field.with_type(_LARGE.get(field.type, field.type)) for field in COLUMNS])


def encode_parquet(rows: Sequence[Mapping[str, Any]], schema: pa.Schema = COLUMNS) -> bytes:
    """A Parquet file with these rows, as the format describes it."""
    out = io.BytesIO()
    options: dict[str, Any] = {"compression": "gzip", "store_schema": False, "write_statistics": False, "use_dictionary": False}
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), out, **options)
    return out.getvalue()


@cache
def commit_metadata(operation: str = "UPSERT") -> bytes:
    """Completion metadata of an empty write."""
    return encode_container(deployed_schema(COMMIT), empty_write(operation))


def empty_write(operation: str) -> Json:
    """The record of an empty write."""
    extra = {"schema": "{}"}
    return {
        "partitionToWriteStats": {},
        "compacted": False,
        "extraMetadata": extra,
        "version": None,
        "operationType": operation,
    }


def expected_row(one: Mapping[str, Any], metadata: Json | None = None, plan: Json | None = None) -> Json:
    """The expected inspection of a row."""
    return {
        "requested": one["instantTime"], "completion": one["completionTime"], "action": one["action"], "metadata": metadata,
        "plan": plan, "version": 1,
    }  # fmt: skip


def expected_inspection(instants: Sequence[Json], minimum: str, maximum: str, level: int) -> Json:
    """The expected inspection of a history file."""
    return {"format": "history-file", "minimum": minimum, "maximum": maximum, "level": level, "instants": list(instants)}


def history_file(name: str, content: bytes, inspect: Json, *, file: str, **more: Any) -> FileCase:
    """A case of one history file."""
    return FileCase(
        area="history", name=name, file=file, content=content, verdict="valid", inspect=inspect,
        needs=("inspect.history-file",), flags=("lost-write",), **more,
    )  # fmt: skip


#: The actions of the golden tables with a history, from their recipes.
KNOWN: Mapping[str, tuple[Json, Json | None]] = {
    "commit": ({"operationType": "UPSERT", "compacted": False}, None),
    "deltacommit": ({"operationType": "UPSERT", "compacted": False}, None),
    "clean": ({"version": 2}, {"policy": "KEEP_LATEST_COMMITS", "version": 2}),
}
BY_HUDI = {"engine": "apache-hudi", "version": "1.0.2", "note": "taken from the golden table"}


def hudi_files() -> Iterator[FileCase]:
    """Level 0 and level 1, with and without plans."""
    for table, level, word in (("history.mor", 0, "delta-commits"), ("history.cow", 1, "commits-and-cleans")):
        folder = FIXTURES / "timeline" / table
        told = json.loads((folder.with_name(f"{table}.timeline") / "expected" / "inspect.json").read_text("utf-8"))
        path = sorted((folder / HISTORY).glob(f"*_{level}.parquet"))[0]
        minimum, maximum, _ = path.stem.split("_")
        instants = [
            {"requested": one["requested"], "completion": one["completion"], "action": one["action"],
             "metadata": KNOWN[one["action"]][0], "plan": KNOWN[one["action"]][1], "version": 1}
            for one in told["timeline"]["completed"] if minimum <= one["requested"] <= maximum
        ]  # fmt: skip
        yield history_file(
            f"level-{level}.{word}.by-hudi-1-0", path.read_bytes(), expected_inspection(instants, minimum, maximum, level),
            file=path.name,
            requirements=("LSM-003", "LSM-013", "LSM-014", "LSM-017", "LSM-018", "LSM-019", "LSM-020", "LSM-021"),
            says=f"A history file of level {level} that Apache Hudi 1.0.2 wrote is read: times, actions, metadata and plans.",
            if_it_fails="The columns contain the bytes of the action's files: Avro containers.",
            errata=("ER-038", "ER-039"), producer=BY_HUDI, derived_by=("names of the actions' files", "recipe of the table"),
        )  # fmt: skip


def hudi_manifests() -> Iterator[FileCase]:
    """Manifests of the same tables; their lengths are those of the files in the same folder."""
    folder = FIXTURES / "timeline" / "history.mor" / HISTORY
    path = folder / "manifest_5"
    files = [{"name": name, "length": str((folder / name).stat().st_size)} for name in _names_in(path.read_text("utf-8"))]
    yield manifest_case(
        "by-hudi-1-0", path.read_bytes(), files, requirements=("LSM-010", "LSM-011"), file=path.name,
        says="A manifest that Apache Hudi 1.0.2 wrote is read: names and lengths of the valid files.",
        if_it_fails="The keys are files, fileName and fileLen; fileLen is the size of the file in bytes.",
        producer=BY_HUDI, derived_by=("the files of the table",),
    )  # fmt: skip


def _names_in(text: str) -> list[str]:
    return [word for word in text.split('"') if word.endswith(".parquet")]


def handmade_files() -> Iterator[FileCase]:
    """Contents and columns in all forms that occur."""
    one, two, three = (
        history_row(1, metadata=commit_metadata()),
        history_row(2, metadata=commit_metadata("INSERT")),
        history_row(3, metadata=None),
    )
    record = empty_write("UPSERT")
    upsert, insert = {"operationType": "UPSERT"}, {"operationType": "INSERT"}
    forms: dict[str, tuple[str, list[dict[str, Any]], list[Json], pa.Schema]] = {
        "metadata-of-no-file": (
            "An action whose completed file was empty has no metadata.",
            [one, three], [expected_row(one, upsert), expected_row(three)], COLUMNS,
        ),
        "metadata-as-json": (
            "Completion metadata in JSON, as the text of the specification states, is read.",
            [history_row(1, metadata=json.dumps(record).encode())], [expected_row(one, record)], COLUMNS,
        ),
        "metadata-as-a-bare-record": (
            "Completion metadata without container and schema, as one release wrote it in upgrades, is read.",
            [history_row(1, metadata=encode_datum(deployed_schema(COMMIT), record))], [expected_row(one, record)], COLUMNS,
        ),
        "rows-in-no-order": (
            "Rows are shown in stored order, also those of an upgraded table, which are not sorted.",
            [two, one], [expected_row(two, insert), expected_row(one, upsert)], COLUMNS,
        ),
        "further-columns": (
            "Unknown columns are ignored.",
            [one | {"note": "x"}], [expected_row(one, upsert)], pa.schema([pa.field("note", pa.string()), *COLUMNS]),
        ),
        "columns-in-another-order": (
            "Columns are matched by name, not by position.",
            [one, two], [expected_row(one, upsert), expected_row(two, insert)], pa.schema(list(COLUMNS)[::-1]),
        ),
        "large-texts": (
            "Columns are read by their Parquet types, whatever types the writing library has in memory.",
            [one], [expected_row(one, upsert)], LARGE,
        ),
    }  # fmt: skip
    for name, (says, rows, expected, schema) in forms.items():
        yield history_file(
            name, encode_parquet(rows, schema), expected_inspection(expected, instant_time(1), instant_time(3), 0),
            file=f"{instant_time(1)}_{instant_time(3)}_0.parquet",
            requirements=("LSM-020",) if name.startswith("metadata") else ("LSM-017", "LSM-019", "LSM-022"),
            errata=("ER-038",) if name.startswith("metadata") else (), says=says,
            if_it_fails=("Metadata is an Avro container, a JSON object or a record without its schema; the first bytes tell "
                         "which."),
        )  # fmt: skip
    late = history_row(1, metadata=commit_metadata(), end=50)
    yield history_file(
        "level-of-two-digits", encode_parquet([late, two]),
        expected_inspection([expected_row(late, upsert), expected_row(two, insert)], instant_time(1), instant_time(2), 12),
        file=f"{instant_time(1)}_{instant_time(2)}_12.parquet", requirements=("LSM-013", "LSM-018"),
        says="The level in a name may have several digits; an action may have completed after later actions.",
        if_it_fails="The name is <minimum>_<maximum>_<level>.parquet; each part consists of digits.",
    )  # fmt: skip


def manifest_json(*files: tuple[str, int | str], **more: Any) -> Json:
    """The JSON of a manifest."""
    return {"files": [{"fileName": name, "fileLen": length} for name, length in files], **more}


LEVEL_0, LEVEL_1 = f"{instant_time(9)}_{instant_time(12)}_0.parquet", f"{instant_time(1)}_{instant_time(8)}_1.parquet"
FILES: list[Json] = [{"name": LEVEL_1, "length": "3477"}, {"name": LEVEL_0, "length": "2992"}]
TWO = manifest_json((LEVEL_1, 3477), (LEVEL_0, 2992))


def manifest_case(name: str, content: bytes, files: Sequence[Json], *, file: str = "manifest_7", **more: Any) -> FileCase:
    """A case of one manifest."""
    return FileCase(
        area="history", name=f"manifest.{name}", file=file, content=content, verdict="valid",
        inspect={"format": "manifest", "files": list(files)}, needs=("inspect.manifest",), flags=("lost-write",), **more,
    )  # fmt: skip


def manifests() -> Iterator[FileCase]:
    """Manifests in the forms that JSON allows."""
    large = 2**53 + 1
    forms: dict[str, tuple[str, bytes, list[Json]]] = {
        "one-line": ("A manifest without white space is read.", json.dumps(TWO, separators=(",", ":")).encode(), FILES),
        "further-keys": ("Keys other than the list of files are ignored.", json.dumps({"version": 1, **TWO}).encode(), FILES),
        "empty": ("An empty manifest lists no files.", b"", []),
        "no-files": ("A manifest with an empty list lists no files.", b'{ "files" : [ ] }', []),
        "a-length-of-64-bits": (
            "The length of a file in a manifest is a 64-bit number.", json.dumps(manifest_json((LEVEL_1, large))).encode(),
            [{"name": LEVEL_1, "length": str(large)}],
        ),
    }  # fmt: skip
    for name, (says, content, files) in forms.items():
        yield manifest_case(
            name, content, files, requirements=("LSM-010",), says=says,
            if_it_fails="A manifest is a JSON object with a list `files`; its entries have a name and a length.",
        )  # fmt: skip
