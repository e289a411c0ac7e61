"""Base files of Parquet and ORC: rows, footers, bloom filters, and damage."""

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import orc
from tools.corpus.avro_bytes import canonical_rows
from tools.corpus.case import FileCase, Json, Variant, distinct_variants, find_patch
from tools.corpus.hfile.builder import encode_varint, with_length
from tools.corpus.hfile.damage import replace_bytes
from tools.corpus.log.blocks import ROW, make_row, parquet_bytes
from tools.corpus.names import FILE_ID, instant_time
from tools.corpus.vectors.indexes.independent_hashes import Bloom

from hudi_conformance.engines.support.columns import META_COLUMNS

MIN, MAX, FILTER, KIND = (
    "hoodie_min_record_key",
    "hoodie_max_record_key",
    "org.apache.hudi.bloomfilter",
    "hoodie_bloom_filter_type_code",
)
ROWS = [make_row(key, n) for n, key in enumerate(("a", "b", "é", "名前"))]
ASKED = ["a", "é", "nobody", "z"]


#: The formats as they are written in text.
NAMES = {"parquet": "Parquet", "orc": "ORC"}


def base_file_name(extension: str) -> str:
    """The name of a base file."""
    return f"{FILE_ID}_0-1-2_{instant_time(1)}.{extension}"


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    for extension in ("parquet", "orc"):
        yield from library_files(extension)
        yield from footers(extension)
        yield from damaged_files(extension)
    yield from parquet_only()
    yield from local_times_in_orc()
    yield from file_name_cases()


def make_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows of ROW with its columns."""
    kinds = {field: pa.int64() if field == "n" else pa.string() for field in (*META_COLUMNS, "id", "n")}
    return pa.table({column: pa.array([one[column] for one in rows], kind) for column, kind in kinds.items()})


def encode_file(extension: str, rows: pa.Table, footer: Mapping[str, str] | None = None, **options: Any) -> bytes:
    """A base file with these rows and these footer entries."""
    if extension == "parquet":
        return parquet_bytes(rows.replace_schema_metadata(footer), **options)
    out = io.BytesIO()
    orc.write_table(rows, out, compression=options.pop("compression", "uncompressed"), **options)
    return with_entries(out.getvalue(), footer) if footer else out.getvalue()


def with_entries(data: bytes, entries: Mapping[str, str]) -> bytes:
    """An uncompressed ORC file with these entries added to its footer; the length in the postscript is adjusted."""
    script = data[-1 - data[-1] : -1]
    length, width = _varint_at(script, 1)
    pairs = (b"\x0a" + with_length(key.encode()) + b"\x12" + with_length(value.encode()) for key, value in entries.items())
    added = b"".join(b"\x2a" + with_length(pair) for pair in pairs)
    longer = script[:1] + encode_varint(length + len(added)) + script[1 + width :]
    return data[: -1 - len(script)] + added + longer + bytes([len(longer)])


def _varint_at(data: bytes, place: int) -> tuple[int, int]:
    """The number at `place`, and its width."""
    number, width = 0, 0
    while True:
        byte = data[place + width]
        number |= (byte & 0x7F) << 7 * width
        width += 1
        if byte < 0x80:
            return number, width


def base_file_case(case_name: str, extension: str, content: bytes, rows: Sequence[Json], **more: Any) -> FileCase:
    """A base file and its rows."""
    return FileCase(
        area="base",
        name=f"{extension}.{case_name}",
        requirements=more.pop("rules", ("BF-002", "BF-010")),
        file=more.pop("file", base_file_name(extension)),
        content=content,
        verdict="valid",
        inspect={"format": extension, "rows": list(rows), **more.pop("shows", {})},
        needs=more.pop("needs", ("inspect.base-file",)),
        flags=more.pop("flags", ("lost-write",)),
        **more,
    )


def library_files(extension: str) -> Iterator[FileCase]:
    """Files as general libraries of the format write them."""
    stock = f"A standard {NAMES[extension]} library wrote the file: open it with one."
    packed = "gzip" if extension == "parquet" else "zlib"
    groups = {"row_group_size": 2} if extension == "parquet" else {"stripe_size": 1}
    shapes: Sequence[tuple[str, Sequence[dict[str, Any]], dict[str, Any], str]] = (
        ("rows", ROWS, {}, "four rows with meta columns"),
        ("no-rows", [], {}, "no rows"),
        ("compressed", ROWS, {"compression": packed}, "rows in compressed pages"),
        ("several-parts", ROWS * 3, groups, "rows in several parts of the file"),
    )
    for shape, rows, options, meaning in shapes:
        yield base_file_case(
            shape,
            extension,
            encode_file(extension, make_table(rows), **options),
            canonical_rows(ROW, rows),
            says=f"A file of a standard {NAMES[extension]} library is read: {meaning}.",
            if_it_fails=stock,
        )
    kinds: dict[str, pa.DataType] = {
        "b": pa.bool_(), "i": pa.int32(), "l": pa.int64(), "f": pa.float32(), "d": pa.float64(), "s": pa.string(),
        "x": pa.binary(), "day": pa.date32(), "t": pa.timestamp("us", "UTC"), "m": pa.decimal128(10, 2),
    }  # fmt: skip
    columns: dict[str, list[Any]] = {
        "b": [True, None], "i": [-1, None], "l": [2**63 - 1, None], "f": [1.5, None], "d": [-0.0, None], "s": ["é", None],
        "x": [b"\x00\xff", None], "day": [20089, None], "t": [1_735_689_600_000_001, None], "m": ["1.50", None],
    }  # fmt: skip
    shown = {
        "b": True, "i": -1, "l": str(2**63 - 1), "f": "1.5", "d": "-0.0", "s": "é",
        "x": "00ff", "day": "2025-01-01", "t": "2025-01-01T00:00:00.000001Z", "m": "1.50",
    }  # fmt: skip
    arrays = {c: pa.array(v).cast(kinds[c]) if c == "m" else pa.array(v, kinds[c]) for c, v in columns.items()}
    yield base_file_case(
        "types",
        extension,
        encode_file(extension, pa.table(arrays)),
        [shown, dict.fromkeys(columns)],
        says="A value and a null of each type are read.",
        if_it_fails="Compare with what a standard library reads; times are in UTC.",
        flags=("silent-wrong-values",),
    )


def local_times_in_orc() -> Iterator[FileCase]:
    """Timestamps without a zone, beside the zone of the writer in the footer of each stripe, by compression of the footers."""
    times = pa.array([1_735_689_600_000_001, None, -1], pa.timestamp("us"))
    shown = [{"t": "2025-01-01T00:00:00.000001"}, {"t": None}, {"t": "1969-12-31T23:59:59.999999"}]
    for compression in ("uncompressed", "zlib", "snappy", "zstd"):
        yield base_file_case(
            f"local-times.{compression}",
            "orc",
            encode_file("orc", pa.table({"t": times}), compression=compression),
            shown,
            rules=("BF-002", "BF-010", "TYP-014"),
            says=f"Local times of a writer in UTC are read from an ORC file with footers of compression {compression}.",
            if_it_fails="The footer of each stripe has the zone of its writer; it is compressed like the rest of the file.",
            flags=("silent-wrong-values",),
        )


def footers(extension: str) -> Iterator[FileCase]:
    """Footer entries of Apache Hudi."""
    yield base_file_case(
        "footer.keys",
        extension,
        encode_file(extension, make_table(ROWS), {MIN: "a", MAX: "名前"}),
        canonical_rows(ROW, ROWS),
        shows={"footer": {MIN: "a", MAX: "名前"}},
        says="The footer has the smallest and the largest record key of the file.",
        if_it_fails="Entries of the footer are UTF-8 texts.",
    )
    for kind, entries, most in (("SIMPLE", 20, 0), ("DYNAMIC_V0", 3, 100)):
        bloom = Bloom(entries, 0.01, most)
        for one in ROWS:
            bloom.add(one["id"])
        told = {"type": kind, "hashes": bloom.hashes, "bits": str(bloom.bits)}
        yield base_file_case(
            f"footer.bloom-filter-{'simple' if kind == 'SIMPLE' else 'dynamic'}",
            extension,
            encode_file(extension, make_table(ROWS), {FILTER: bloom.text(), KIND: kind, MIN: "a", MAX: "名前"}),
            canonical_rows(ROW, ROWS),
            shows={
                "footer": {KIND: kind, MIN: "a", MAX: "名前"},
                "bloom": told | {"may_hold": [bloom.may_hold(one) for one in ASKED]},
            },
            keys=ASKED,
            rules=("BF-002", "IDX-004", "IDX-005", "IDX-006"),
            needs=("inspect.base-file", "inspect.bloom-filter"),
            says="The bloom filter in the footer is Base64 text and reports every key of the file as possibly present.",
            if_it_fails="The type of the filter is an entry of its own; see the vectors of bloom.may-hold.",
            flags=("lost-write", "silent-stale"),
        )


def damaged_files(extension: str) -> Iterator[FileCase]:
    """Damaged files: an error is right, and so are the rows of the undamaged file."""
    data = encode_file(extension, make_table(ROWS[:2]), {MIN: "a", MAX: "b"})
    end = len(data)
    lengths = sorted({*range(0, end, 37), *range(max(end - 40, 0), end)})
    variants = {f"cut-to-{length}": data[:length] for length in lengths}
    for offset in range(4 if extension == "parquet" else 3):
        variants[f"first-magic.byte-{offset}"] = replace_bytes(data, offset, b"\x00")
    for back in range(1, 5):
        variants[f"last-bytes.byte-minus-{back}"] = replace_bytes(data, end - back, b"\x00")
    if extension == "parquet":
        for length in (0, 1, 8, end - 8, end, 2**31 - 1, 2**31, 2**32 - 1):
            variants[f"footer-length.{length}"] = replace_bytes(data, end - 8, length.to_bytes(4, "little"))
    else:
        for length in (0, 1, 3, 127, 255):
            variants[f"postscript-length.{length}"] = replace_bytes(data, end - 1, bytes([length]))
    variants |= {"one-byte-more": data + b"\x00", "zeros-behind": data + bytes(100), "no-bytes": b"", "all-zeros": bytes(end)}
    made = [
        Variant(name=variant, patches=[find_patch(data, new)], inspect={"rows": canonical_rows(ROW, ROWS[:2])}, or_error=True)
        for variant, new in variants.items()
    ]
    yield FileCase(
        area="base",
        name=f"{extension}.damaged",
        requirements=("BF-002",),
        says=f"A damaged {NAMES[extension]} file is an error or gives its rows: truncated, wrong magic or wrong footer length.",
        if_it_fails="A standard library reports an error; a reader that hides the error returns no rows.",
        file=base_file_name(extension),
        content=data,
        verdict="must-refuse",
        variants=distinct_variants(made, data),
        needs=("inspect.base-file",),
        flags=("lost-write", "crash", "memory"),
    )


def parquet_only() -> Iterator[FileCase]:
    """Cases for Parquet only: nested values, and invalid filters."""
    point = pa.struct([("x", pa.int32()), ("y", pa.list_(pa.int64()))])
    values = [{"x": 1, "y": [1, None]}, None]
    arrays = {"p": pa.array(values, point), "m": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int32()))}
    yield base_file_case(
        "nested",
        "parquet",
        encode_file("parquet", pa.table(arrays)),
        [{"p": {"x": 1, "y": ["1", None]}, "m": {"k": 1}}, {"p": None, "m": {}}],
        says="Records, lists and maps are read.",
        if_it_fails="Compare with what a standard library reads.",
        flags=("silent-wrong-values",),
    )
    bloom = Bloom(20, 0.01)
    bloom.add("a")
    text = bloom.text()
    filters = {
        "not-base64": ("***", "SIMPLE"),
        "cut": (text[: len(text) // 2 // 4 * 4], "SIMPLE"),
        "no-bytes": ("", "SIMPLE"),
        "longer": (text[:-4] + "AAAA" + "AAAA", "SIMPLE"),
        "of-unknown-kind": (text, "CUCKOO"),
        "dynamic-called-simple": (Bloom(20, 0.01, 100).text(), "SIMPLE"),
        "simple-called-dynamic": (text, "DYNAMIC_V0"),
        "two-to-31-bits": ("/////wAAAAcBf////w==", "SIMPLE"),
        "two-to-31-hashes": (_with_hashes(bloom), "SIMPLE"),
        "zero-bits": ("/////wAAAAcBAAAAAA==", "SIMPLE"),
    }
    for which, (stored, kind) in filters.items():
        yield FileCase(
            area="base",
            name=f"parquet.bloom-filter-that-is-none.{which}",
            requirements=("IDX-004", "IDX-005", "IDX-006"),
            says="A bloom filter that cannot be decoded gives an error or no filter, and never reports a key as absent.",
            if_it_fails="Without a filter every key may be in the file.",
            file=base_file_name("parquet"),
            content=encode_file("parquet", make_table(ROWS[:1]), {FILTER: stored, KIND: kind}),
            verdict="must-refuse",
            inspect={"format": "parquet", "bloom": None},
            accept=[{"format": "parquet", "bloom": {"may_hold": [True]}}],
            or_error=True,
            keys=["a"],
            needs=("inspect.base-file", "inspect.bloom-filter"),
            flags=("lost-write", "silent-stale", "memory"),
        )


def _with_hashes(bloom: Bloom) -> str:
    data = base64.b64decode(bloom.text())
    return base64.b64encode(data[:4] + b"\x7f\xff\xff\xff" + data[8:]).decode()


def file_name_cases() -> Iterator[FileCase]:
    """The name of a base file determines its format."""
    rows = canonical_rows(ROW, ROWS)
    made = {extension: encode_file(extension, make_table(ROWS)) for extension in ("parquet", "orc")}
    for extension, other in (("parquet", "orc"), ("orc", "parquet")):
        yield base_file_case(
            f"named-{other}",
            extension,
            made[extension],
            rows,
            file=base_file_name(other),
            rules=("BF-010",),
            or_error=True,
            says="A file whose extension names another format than its bytes gives its rows or an error.",
            if_it_fails="A decoder of the wrong format must fail; it must not show an empty file.",
            flags=("lost-write", "crash"),
        )
    stems = {
        "id-without-counter": f"f0000000-0000-4000-8000-000000000001_0-1-2_{instant_time(1)}",
        "long-token": f"{FILE_ID}_1207-33-18_{instant_time(1)}",
        "of-seconds": f"{FILE_ID}_0-1-2_20250101000000",
    }
    for which, stem in stems.items():
        yield base_file_case(
            f"name.{which}",
            "parquet",
            made["parquet"],
            rows,
            file=f"{stem}.parquet",
            rules=("BF-003", "BF-010"),
            says="The name of a base file consists of file id, write token and instant, joined by underscores.",
            if_it_fails="Split the name at its last two underscores.",
        )
