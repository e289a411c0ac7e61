"""Log blocks of many records: engines may decode these in another way than a few, with the same result.

Each golden log file of Avro blocks is made long: the records of a block are repeated, and the lengths around them are
adjusted.
"""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.case import Case
from hudi_conformance.cases.case_index import golden_cases
from hudi_conformance.cases.inspection import find_contradiction
from hudi_conformance.contract.client import Client

#: The least number of records in a long block.
MANY = 1200
FRAME, TRAILER = 14, 8


def is_of_rows(case: Case) -> bool:
    """Return whether a case expects only complete blocks of Avro rows, at least one of them with rows."""
    if case.verdict != "valid" or case.expected.inspect is None or case.subject.suffix == ".hfile":
        return False
    shown = case.inspection[0]
    blocks = shown.get("blocks", ())
    return (
        shown.get("format") == "log"
        and all(b["type"] == "avro" and b["version"] == 1 for b in blocks)
        and any(block.get("rows") for block in blocks)
    )


def find_cases() -> Iterator[Case]:
    """Yield the golden cases that inspect a log file of Avro rows."""
    for indexed in golden_cases():
        if indexed.id.startswith("log.") and "inspect.log-file" in indexed.needs:
            case = cases.load_case(Path(indexed.node))
            if is_of_rows(case):
                yield case


#: The cases, by the end of their ids.
CASES = {case.id.removeprefix("log."): case for case in find_cases()}


def lengthen_file(data: bytes, blocks: list[dict[str, Any]]) -> tuple[bytes, list[dict[str, Any]]]:
    """Return a file whose blocks repeat their records many times, and the expected result of inspecting it."""
    out, shown, start = b"", [], 0
    for block in blocks:
        end = start + FRAME + struct.unpack_from(">q", data, start + 6)[0]
        longer, times = repeat_records(data[start:end])
        shown.append({**block, "offset": len(out), "length": len(longer), "rows": block["rows"] * times})
        out, start = out + longer, end
    return out, shown


def repeat_records(block: bytes) -> tuple[bytes, int]:
    """Return a block of version 1 with its records repeated, and how often."""
    start = FRAME + 8
    (entries,) = struct.unpack_from(">i", block, start)
    start += 4
    for _ in range(entries):
        start += 8 + struct.unpack_from(">i", block, start + 4)[0]
    (size,) = struct.unpack_from(">q", block, start)
    content = block[start + 8 : start + 8 + size]
    version, count = struct.unpack_from(">ii", content)
    times = -(-MANY // count) if count else 1
    content = struct.pack(">ii", version, count * times) + content[8:] * times
    middle = block[FRAME:start] + struct.pack(">q", len(content)) + content + block[start + 8 + size : -TRAILER]
    length = len(middle) + TRAILER
    return block[:6] + struct.pack(">q", length) + middle + struct.pack(">q", length + 6), times


@pytest.mark.needs("inspect.log-file", "inspect.log-content")
@pytest.mark.requirements("BLK-020", "BLK-021", "BLK-022", "BLK-030")
@pytest.mark.parametrize("name", CASES)
def test_repeated_records_decode_alike(engine: Client, tmp_path: Path, name: str) -> None:
    """BLK-030: values of every type, in every form that a datum may have, are the same among a thousand records as in a short
    block.
    """
    case = CASES[name]
    expected: Mapping[str, Any] = case.inspection[0]
    data, blocks = lengthen_file(case.subject.read_bytes(), expected["blocks"])
    found = engine.inspect(cases.write_file(case.subject.name, data, tmp_path))
    difference = find_contradiction({**expected, "blocks": blocks}, found)
    assert difference is None, difference.summary()


@pytest.mark.needs("inspect.log-file", "inspect.log-content")
@pytest.mark.requirements("BLK-017", "LF-025")
@pytest.mark.parametrize("before", [0, 1, 3, 6])
def test_a_block_after_a_mebibyte_of_damage_is_found(engine: Client, tmp_path: Path, before: int) -> None:
    """BLK-017: readers that look for the next magic fetch windows of a power of two. The magic may be in two of them: the block
    is found however many of its bytes are before the bound.
    """
    case = next(case for case in CASES.values() if len(case.inspection[0]["blocks"]) == 1)
    data, expected = case.subject.read_bytes(), case.inspection[0]
    (block,) = expected["blocks"]
    damage = bytes((1 << 20) + 1 - before)
    blocks = [
        block,
        {"offset": len(data), "length": len(damage), "type": "corrupt"},
        {**block, "offset": len(data) + len(damage)},
    ]
    found = engine.inspect(cases.write_file(case.subject.name, data + damage + data, tmp_path))
    difference = find_contradiction({**expected, "blocks": blocks}, found)
    assert difference is None, difference.summary()
