"""Damaged files of actions: families of copies that are truncated or changed. Each must be refused."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tools.corpus.avro_bytes import encode_bytes, encode_datum, encode_long
from tools.corpus.case import FileCase, Variant, distinct_variants, find_patch
from tools.corpus.timeline.action_records import BY_NAME, PLACES, ActionFile
from tools.corpus.timeline.avro_containers import (
    MARKER,
    deployed_schema,
    encode_block,
    encode_container,
    encode_header,
    sample_value,
    schema_text,
)

#: Decompressed size of a decompression bomb: a thousand times its size.
INFLATED = 16 << 20
HUGE = encode_long(2**40)


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    for place in PLACES:
        yield _cut(place)
    for name in ("commit.completed", "clean.requested", "restore.completed"):
        yield _parts(BY_NAME[name])
        yield _numbers(BY_NAME[name])
    yield _schemas(BY_NAME["clean.completed"])
    yield _bombs(BY_NAME["clean.completed"])


def damaged_copies(
    place: ActionFile, name: str, says: str, data: bytes, variants: Mapping[str, bytes], errata: Sequence[str] = ()
) -> FileCase:
    """Copies of one file, each of which must be refused."""
    made = [
        Variant(name=variant, patches=[find_patch(data, new)], error="not the record of the action in this state")
        for variant, new in variants.items()
    ]
    return FileCase(
        area="actions",
        name=f"damaged.{place.name}.{name}",
        requirements=("TL-002", *place.rules),
        says=says,
        if_it_fails="A damaged file must never be treated as a record: rows, plans or protected files would be lost silently.",
        needs=("inspect.instant",),
        flags=("silent-stale", "lost-write", "crash", "memory"),
        errata=errata,
        file=place.file,
        content=data,
        verdict="must-refuse",
        variants=distinct_variants(made, data),
    )


def _whole(place: ActionFile) -> tuple[Any, bytes, bytes]:
    """A schema, the header of a file, and its record."""
    schema = deployed_schema(place.real)
    return schema, encode_header({"avro.schema": schema_text(schema)}), encode_datum(schema, sample_value(schema))


def _cut(place: ActionFile) -> FileCase:
    """Files cut in the magic, the schema, the marker, the counts, every few bytes of the record, and before the last byte."""
    schema, head, content = _whole(place)
    data = encode_container(schema, sample_value(schema))
    first = 0 if place.name in ("commit.inflight", "replacecommit.requested", "clustering.requested") else None
    lengths = {0, 1, 3, 4, 5, 20, len(head) // 2, len(head) - 16, len(head) - 1, len(head), len(head) + 1, len(head) + 2}
    lengths |= set(range(len(head), len(data), max(7, len(content) // 12)))
    lengths |= {len(data) - back for back in (1, 2, 15, 16, 17)}
    cuts = {f"length-{length}": data[:length] for length in sorted(lengths) if length != first}
    return damaged_copies(place, "cut", "A truncated file is refused, wherever it ends.", data, cuts, place.empty_counts)


def _parts(place: ActionFile) -> FileCase:
    """Files in which one part of the container is wrong."""
    schema, head, content = _whole(place)
    one, other = encode_block(content), encode_block(content, marker=bytes(16))
    return damaged_copies(
        place, "parts", "A container with no record, with several records, or with a damaged part is refused.",
        head + one,
        {
            "two-records": head + encode_block(content, content),
            "two-blocks": head + one + one,
            "the-file-twice": head + one + head + one,
            "no-block": head,
            "no-record": head + encode_block(),
            "a-count-of-two": head + encode_block(content, count=2),
            "bytes-behind-the-record": head + encode_block(content + b"\x00"),
            "bytes-behind-the-block": head + one + b"\x02\x04",
            "another-marker": head + other,
            "another-marker-in-the-header": encode_header({"avro.schema": schema_text(schema)}, bytes(16)) + one,
            "magic-of-version-2": b"Obj\x02" + head[4:] + one,
            "magic-of-parquet": b"PAR1" + head[4:] + one,
            "no-schema": encode_header({"avro.codec": b"null"}) + one,
            "schema-is-no-json": encode_header({"avro.schema": schema_text(schema)[:-1]}) + one,
            "schema-is-empty": encode_header({"avro.schema": b""}) + one,
            "codec-unknown": encode_header({"avro.schema": schema_text(schema), "avro.codec": b"rot13"}) + one,
            "codec-not-applied": encode_header({"avro.schema": schema_text(schema), "avro.codec": b"deflate"}) + one,
            "zeros": bytes(len(head) + len(one)),
            "noise": bytes((7 * n * n + 3) % 251 for n in range(len(head) + len(one))),
            "json": b'{"version": 2}',
            "text": b"file deleted\n",
        },
        ("ER-099",),
    )  # fmt: skip


def _numbers(place: ActionFile) -> FileCase:
    """Counts and lengths that do not match the following bytes."""
    schema, head, content = _whole(place)
    key = encode_long(1) + encode_bytes(b"avro.schema")
    pair = encode_bytes(b"avro.schema") + encode_bytes(schema_text(schema))
    tail = head[len(head) - 17 :]
    made = {
        "huge-count-of-records": head + HUGE + encode_bytes(content) + MARKER,
        "negative-count-of-records": head + encode_long(-1) + encode_bytes(content) + MARKER,
        "huge-length-of-block": head + encode_long(1) + HUGE + content + MARKER,
        "negative-length-of-block": head + encode_long(1) + encode_long(-len(content)) + content + MARKER,
        "length-of-block-too-small": head + encode_long(1) + encode_long(len(content) - 1) + content + MARKER,
        "length-of-block-too-large": head + encode_long(1) + encode_long(len(content) + 16) + content + MARKER,
        "endless-number": head + b"\xff" * 40 + content + MARKER,
        "huge-count-of-metadata": b"Obj\x01" + HUGE + pair + tail + encode_block(content),
        "huge-length-of-schema": b"Obj\x01" + key + HUGE + schema_text(schema) + tail + encode_block(content),
        "negative-length-of-schema": b"Obj\x01" + key + encode_long(-3) + schema_text(schema) + tail + encode_block(content),
        "record-of-0xff": head + encode_block(b"\xff" * len(content)),
        "record-too-short": head + encode_block(content[: len(content) // 2]),
        "branch-that-is-none": head + encode_block(encode_long(9) + content[1:]) if content[0] in (0,
            2) else head + encode_block(content[:-1]),
    }  # fmt: skip
    return damaged_copies(place, "numbers", "Counts, lengths and branches that do not match the following bytes are refused.",
                  head + encode_block(content), made, ("ER-099",))  # fmt: skip


def _schemas(place: ActionFile) -> FileCase:
    """Schemas that a reader must refuse: other records, other types, recursive types."""
    schema, head, content = _whole(place)

    def of(other: Any, data: bytes = content) -> bytes:
        return encode_header({"avro.schema": schema_text(other)}) + encode_block(data)

    endless = {"type": "record", "name": schema["name"], "fields": [{"name": "next", "type": schema["name"]}]}
    nothing = {
        "type": "record",
        "name": schema["name"],
        "fields": [{"name": "many", "type": {"type": "array", "items": "null"}}],
    }
    twice = {**schema, "fields": [*schema["fields"], schema["fields"][0]]}
    return damaged_copies(
        place, "schema", "A file with the schema of another type, or of a value without end, is refused.",
        head + encode_block(content),
        {
            "of-a-text": of("string", encode_bytes(b"clean")),
            "of-a-number": of("long", encode_long(1)),
            "of-another-name": of({**schema, "name": "HoodieSomething"}),
            "of-an-array": of({"type": "array", "items": schema}, encode_long(1) + content + encode_long(0)),
            "that-holds-itself": of(endless, b""),
            "of-an-array-of-nothing": of(nothing, HUGE + encode_long(0)),
            "with-a-field-twice": of(twice, content + content),
            "of-an-unknown-type": of({**schema, "fields": [{"name": "x", "type": "HoodieSomething"}]}),
            "nested-very-deep": encode_header({"avro.schema": b'{"type":"array","items":' * 1_500}) + encode_block(content),
        },
        ("ER-099",),
    )  # fmt: skip


def _bombs(place: ActionFile) -> FileCase:
    """A few bytes that declare, or are decompressed to, a very large size."""
    schema, head, content = _whole(place)
    plain = {"type": "record", "name": schema["name"], "fields": [{"name": "startCleanTime", "type": "string"}]}
    deflated = encode_header({"avro.schema": schema_text(plain), "avro.codec": b"deflate"})
    zeros = {"type": "record", "name": schema["name"], "fields": [{"name": "n", "type": {"type": "array", "items": "string"}}]}
    long_text = deflated + encode_block(encode_long(INFLATED) + bytes(INFLATED), deflate=True)
    return damaged_copies(
        place, "bombs", "A small file that declares a huge size is refused, without memory for the declared size.",
        head + encode_block(content),
        {
            "text-that-is-not-there": encode_header({"avro.schema": schema_text(plain)}) + encode_block(HUGE),
            "array-that-is-not-there": encode_header({"avro.schema": schema_text(zeros)}) + encode_block(HUGE + bytes(8)),
            "a-block-with-more-behind": long_text[: len(long_text) - 1],
            "doubles-of-a-length": encode_header({"avro.schema": schema_text(plain)}) + encode_block(struct.pack("<d", 1e300)),
        },
    )  # fmt: skip
