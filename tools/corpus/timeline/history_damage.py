"""Damaged history files and manifests: an error is right; other or fewer actions are wrong."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from tools.corpus.case import FileCase, Variant, distinct_variants, find_patch
from tools.corpus.hfile.damage import replace_bytes
from tools.corpus.timeline.avro_containers import deployed_schema, encode_container
from tools.corpus.timeline.history_files import (
    COLUMNS,
    LEVEL_0,
    LEVEL_1,
    TWO,
    commit_metadata,
    empty_write,
    encode_parquet,
    expected_inspection,
    expected_row,
    history_row,
    instant_time,
    manifest_json,
)

FILE = f"{instant_time(1)}_{instant_time(2)}_0.parquet"
ROWS = [history_row(1, metadata=commit_metadata()), history_row(2, metadata=commit_metadata("INSERT"))]
WHOLE = encode_parquet(ROWS)
RIGHT = expected_inspection(
    [expected_row(ROWS[0], empty_write("UPSERT")), expected_row(ROWS[1], empty_write("INSERT"))],
    instant_time(1),
    instant_time(2),
    0,
)


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    yield from files()
    yield from contents()
    yield from manifests()


def damaged_copies(name: str, data: bytes, file: str, variants: Mapping[str, bytes], feature: str, **more: Any) -> FileCase:
    """Damaged copies of a file, each of which must be an error; the answer `right`, if given, is right too."""
    right = more.pop("right", None)
    answer: dict[str, Any] = {"error": "damaged"} if right is None else {"inspect": right, "or_error": True}
    made = [
        Variant(name=variant, patches=[find_patch(data, new)], **answer) for variant, new in variants.items() if new != data
    ]
    return FileCase(
        area="history", name=f"damaged.{name}", file=file, content=data, verdict="must-refuse",
        variants=distinct_variants(made, data),
        needs=(feature,), flags=("lost-write", "crash", "memory"), **more,
    )  # fmt: skip


def files() -> Iterator[FileCase]:
    """Parquet files that are truncated, have flipped bytes, or have other columns."""
    yield damaged_copies(
        "cut", WHOLE, FILE, {f"length-{length}": WHOLE[:length] for length in (*range(0, len(WHOLE), 97), len(WHOLE) - 1)},
        "inspect.history-file", requirements=("LSM-003",), says="A truncated history file is refused.",
        if_it_fails="A file without a footer is not a Parquet file: report an error with its name.",
    )  # fmt: skip
    footer = len(WHOLE) - 8 - int.from_bytes(WHOLE[-8:-4], "little")
    flips = {f"byte-{place}": replace_bytes(WHOLE, place, bytes([WHOLE[place] ^ 0xFF])) for place in range(4, len(WHOLE), 41)}
    yield damaged_copies(
        "flipped", WHOLE, FILE, {name: data for name, data in flips.items() if int(name[5:]) not in range(footer, footer + 4)},
        "inspect.history-file", right=RIGHT, requirements=("LSM-003", "LSM-020"),
        says="A history file with one wrong byte gives an error or the actions of the undamaged file.",
        if_it_fails="An error is right, or the undamaged answer if the byte has no meaning; other actions are wrong.",
    )  # fmt: skip
    one = [dict(ROWS[0])]
    wrong: dict[str, bytes] = {
        "no-parquet": b"PAR1 no Parquet at all PAR1",
        "times-as-numbers": _retyped(one, "instantTime", pa.int64(), int(instant_time(1))),
        "an-ordinal-for-the-action": _retyped(one, "action", pa.int32(), 3),
        "metadata-as-a-number": _retyped(one, "metadata", pa.int64(), 1),
        "no-requested-time": encode_parquet([ROWS[0] | {"instantTime": None}]),
        "no-action": encode_parquet([ROWS[0] | {"action": None}]),
        "a-requested-time-of-words": encode_parquet([ROWS[0] | {"instantTime": "yesterday"}]),
        "a-completion-time-of-words": encode_parquet([ROWS[0] | {"completionTime": "today"}]),
        "without-the-times": encode_parquet([{"action": "commit"}], pa.schema([("action", pa.string())])),
    }
    yield damaged_copies(
        "columns", WHOLE, FILE, wrong, "inspect.history-file", requirements=("LSM-017", "LSM-018", "LSM-019"),
        says="A Parquet file with other columns than the history, or with rows without time or action, is refused.",
        if_it_fails="Check the names and types of the columns before reading their values.",
    )  # fmt: skip


def _retyped(rows: list[dict[str, Any]], column: str, kind: pa.DataType, value: Any) -> bytes:
    place = COLUMNS.get_field_index(column)
    return encode_parquet([one | {column: value} for one in rows], COLUMNS.set(place, pa.field(column, kind)))


def contents() -> Iterator[FileCase]:
    """Metadata and plans that do not fit the action."""
    whole = commit_metadata()
    clean = encode_container(deployed_schema("clean.requested"), _plan())
    broken: dict[str, bytes] = {
        **{
            f"metadata-cut-at-{length}": encode_parquet([history_row(1, metadata=whole[:length])])
            for length in (1, 4, 100, len(whole) - 1)
        },
        "metadata-of-another-action": encode_parquet([history_row(1, metadata=clean)]),
        "metadata-as-half-a-json": encode_parquet([history_row(1, metadata=b'{"operationType": "UPSE')]),
        "metadata-as-a-json-list": encode_parquet([history_row(1, metadata=b"[]")]),
        "a-plan-that-is-cut": encode_parquet([history_row(1, "clean", plan=clean[:-3])]),
        "a-plan-of-no-bytes": encode_parquet([history_row(1, "clean", plan=b"")]),
    }
    yield damaged_copies(
        "contents", WHOLE, FILE, broken, "inspect.history-file", requirements=("LSM-020", "LSM-021"), errata=("ER-038",),
        says="Contents of archived actions that are truncated, empty, or of another action are refused.",
        if_it_fails="The columns contain whole files: check them like the files of an action.",
    )  # fmt: skip


def _plan() -> dict[str, Any]:
    return {
        "earliestInstantToRetain": None, "lastCompletedCommitTimestamp": "", "policy": "KEEP_LATEST_COMMITS",
        "filesToBeDeletedPerPartition": {}, "version": 2, "filePathsToBeDeletedPerPartition": {}, "partitionsToBeDeleted": [],
        "extraMetadata": {},
    }  # fmt: skip


def manifests() -> Iterator[FileCase]:
    """Truncated manifests, and manifests of another form."""
    data = json.dumps(TWO, indent=2).encode()
    last = data.rstrip().rindex(b"}")
    yield damaged_copies(
        "manifest.cut", data, "manifest_7", {f"length-{length}": data[:length] for length in (*range(1, last, 7), last)},
        "inspect.manifest", requirements=("LSM-009", "LSM-010"), errata=("ER-005",),
        says="A truncated manifest is refused, so that files at its end are not missed.",
        if_it_fails="Parse the whole text as JSON; a truncated text is not JSON.",
    )  # fmt: skip

    def text(content: Any) -> bytes:
        return json.dumps(content).encode()

    shapes: dict[str, bytes] = {
        "a-list": text([LEVEL_1]),
        "no-list-of-files": text({"fileNames": [LEVEL_1]}),
        "files-are-names": text({"files": [LEVEL_1, LEVEL_0]}),
        "no-name": text({"files": [{"fileLen": 1}]}),
        "no-length": text({"files": [{"fileName": LEVEL_1}]}),
        "a-length-in-words": text(manifest_json((LEVEL_1, "long"))),
        "a-name-that-leads-out": text(manifest_json((f"../../{LEVEL_1}", 1))),
        "an-absolute-name": text(manifest_json((f"/tmp/{LEVEL_1}", 1))),
        "a-name-of-another-kind": text(manifest_json(("manifest_1", 1))),
        "no-text": b"\xff\xfe\x00",
        "deep": b'{"files":' + b"[" * 100_000,
    }
    yield damaged_copies(
        "manifest.shape", data, "manifest_7", shapes, "inspect.manifest", requirements=("LSM-010", "LSM-013"),
        says="JSON that is not a manifest, or that names a file that is not a history file, is refused.",
        if_it_fails="A manifest names files of its own folder, each with name and length.",
    )  # fmt: skip
