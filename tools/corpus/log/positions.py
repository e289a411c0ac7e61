"""Valid log files: blocks with record positions in the header."""

from collections.abc import Iterator, Mapping, Sequence

from tools.corpus.avro_bytes import record_schema
from tools.corpus.case import FileCase
from tools.corpus.log.blocks import avro_block, base64_text, delete_block, delete_entry, make_row
from tools.corpus.log.builder import BASE_INSTANT, POSITIONS, Block
from tools.corpus.log.file_cases import whole_file_case
from tools.corpus.names import instant_time
from tools.corpus.roaring_bytes import Containers, array_container, bitmap_container, encode_bitmap64, run_container

RULES = ("LF-041", "LF-042")
#: The largest number of positions of a bitmap that an inspection shows.
SHOWN = 1000
ID_ONLY = record_schema("row", ("id", "string"))


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    small = {0: {0: array_container(0, 2, 5)}}
    yield positions_case("array-container", small, [0, 2, 5], "A container with few positions is a sorted list.")
    yield positions_case(
        "run-container",
        {0: {0: run_container((0, 98))}},
        list(range(99)),
        "Consecutive positions are a run: the first position and the length minus 1.",
    )
    even = list(range(0, 8196, 2))
    yield positions_case(
        "bitmap-container",
        {0: {0: bitmap_container(even)}},
        even,
        "A container with more than 4096 positions is a field of 65536 bits.",
    )
    yield positions_case(
        "two-containers",
        {0: {0: array_container(1), 1: array_container(4464)}},
        [1, 70_000],
        "A container covers 65536 positions.",
    )
    several = {0: {n: run_container((10, 19)) for n in range(4)}}
    spans = [n * 65536 + m for n in range(4) for m in range(10, 20)]
    yield positions_case(
        "four-run-containers", several, spans, "A bitmap with runs has offsets if it has four or more containers."
    )
    mixed = {0: {0: run_container((0, 9)), 2: array_container(1, 5), 9: run_container((0, 1), (7, 9))}}
    places = [*range(10), 131_073, 131_077, 589_824, 589_825, 589_831, 589_832, 589_833]
    yield positions_case(
        "mixed-containers", mixed, places, "A flag for each container states whether it is a container of runs."
    )
    high = {0: {0: array_container(7)}, 1: {0: array_container(0)}, 256: {1: array_container(3)}}
    yield positions_case(
        "beyond-32-bits",
        high,
        [7, 2**32, 256 * 2**32 + 65_539],
        "Positions above 2^32 are in the bucket of their upper 32 bits.",
    )
    yield whole_file_case(
        "positions.of-deletes",
        add_positions(delete_block(1, delete_entry("a"), delete_entry("b")), {0: {0: array_container(3, 9)}}, [3, 9]),
        rules=(*RULES, "BLK-006"),
        errata=("ER-014",),
        says="A delete block has positions like a data block.",
        if_it_fails="Header keys do not depend on the type of the block.",
    )
    yield whole_file_case(
        "positions.without-the-base-file-instant",
        add_positions(avro_block(1, make_row("a")), {0: {0: array_container(4)}}, [4], base=False),
        rules=(*RULES, "LF-043"),
        errata=("ER-014",),
        says="Positions without header key 8 are shown; no merge may use them.",
        if_it_fails="The first release of version 8 wrote such blocks: the base file of the positions is unknown.",
        flags=("silent-stale",),
    )
    full = {0: {n: run_container((0, 65_535)) for n in range(1000)}}
    yield whole_file_case(
        "positions.of-sixty-five-million-rows",
        add_positions(avro_block(1, make_row("a")), full, range(SHOWN)),
        avro_block(2, make_row("b", 2, 2)),
        rules=RULES,
        errata=("ER-014",),
        or_error=True,
        says="A short bitmap with 65536000 positions before one row is an error, or only its first positions are shown.",
        if_it_fails="Compare the number of positions with the number of rows before expanding a bitmap.",
        flags=("memory", "crash"),
    )
    yield whole_file_case(
        "positions.none",
        add_positions(avro_block(1, make_row("a")), {}, []),
        rules=RULES,
        errata=("ER-014",),
        says="An empty bitmap has eight zero bytes.",
        if_it_fails="The number of buckets takes eight bytes, little-endian.",
        flags=("crash",),
    )


def positions_case(name: str, buckets: Mapping[int, Containers], places: Sequence[int], says: str) -> FileCase:
    """A block with as many rows as it has positions."""
    rows = [{"id": f"k{place}"} for place in places]
    return whole_file_case(
        f"positions.{name}",
        add_positions(avro_block(1, *rows, schema=ID_ONLY), buckets, places),
        rules=RULES,
        errata=("ER-014",),
        says=says,
        if_it_fails="Positions are Base64 of a 64-bit Roaring bitmap in the portable form, little-endian; they count from 0.",
        flags=("silent-stale", "lost-write"),
    )


def add_positions(block: Block, buckets: Mapping[int, Containers], places: Sequence[int], *, base: bool = True) -> Block:
    """The block with positions in its header."""
    header = [
        *block.header,
        (POSITIONS, base64_text(encode_bitmap64(buckets))),
        *([(BASE_INSTANT, instant_time(0))] if base else []),
    ]
    return block.with_changes(header=header, shows={**block.shows, "positions": [str(place) for place in places[:SHOWN]]})
