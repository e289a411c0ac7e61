"""Pages of damaged files are complete: they show which bytes are wrong for any damage."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from hudi_conformance.cases.file_cases import Variant
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.commands.tables.inspect import show_file
from hudi_reference.files.inspection.block_scan import scan_blocks
from hudi_reference.files.inspection.envelope import envelope
from hudi_reference.files.inspection.file_type import identify
from hudi_reference.files.inspection.log import inspect_log
from hudi_reference.storage import MemoryStorage

#: Damaged copies that are looked at of each family, spread over all of them.
SAMPLE = 12


def files(area: str) -> list[Path]:
    """The case files of one area that have a file."""
    return [case for case in sorted((fixtures_root() / area).rglob("case.json")) if "file" in json.loads(case.read_text())]


def copies(case: Path) -> Iterator[tuple[str, str, bytes]]:
    """Name of the copy, name of the file, bytes: the file of a case and some of its damaged copies."""
    said = json.loads(case.read_text())
    name, whole = Path(said["file"]).name, (case.parent / said["file"]).read_bytes()
    yield "undamaged", name, whole
    if "variants" in said["expected"]:
        listed = json.loads((case.parent / said["expected"]["variants"]).read_text())
        for raw in listed[:: -(-len(listed) // SAMPLE)]:
            variant = Variant.from_json(raw)
            yield variant.name, name, variant.apply(whole)


def case_id(case: Path) -> str:
    """The id for the name of a test."""
    return case.parent.name


@pytest.mark.parametrize("case", files("log"), ids=case_id)
def test_fields_cover_a_log_file(case: Path):
    """The fields of a whole block follow one another without gaps, and none is wrong; damaged bytes have at least one wrong
    field."""
    storage = MemoryStorage()
    for copy, name, data in copies(case):
        storage.put(name, data)
        for found in inspect_log(storage, name):
            block = found.block
            fields = envelope(memoryview(data), block.offset, block.end)
            wrong = [field.name for field in fields if field.is_wrong]
            if found.is_corrupt:
                assert wrong, (copy, block.offset)
            elif found.error is None:
                places = [(field.offset, field.end) for field in fields]
                ends = [block.offset, *(end for _, end in places)]
                assert not wrong and [start for start, _ in places] == ends[:-1] and ends[-1] == block.end, (copy, block.offset)


@pytest.mark.parametrize("case", files("hfile"), ids=case_id)
def test_parts_cover_an_hfile(case: Path):
    """Blocks, other bytes and trailer cover the file, also if it is damaged."""
    for copy, _, data in copies(case):
        ends = [0]
        for piece in scan_blocks(memoryview(data)):
            assert piece.offset == ends[-1] and piece.size > 0, copy
            ends.append(piece.end)
        assert ends[-1] == len(data), copy


@pytest.mark.parametrize("case", [*files("log")[::7], *files("hfile")[::7], *files("base")[::3]], ids=case_id)
def test_every_damaged_copy_has_a_page(case: Path):
    """No damage prevents the page; the page of a file that must be refused says so."""
    storage = MemoryStorage()
    for copy, name, data in copies(case):
        storage.put(name, data)
        out = io.StringIO()
        refused = show_file(Console(file=out, width=90), identify(storage, name), 2, ["a"], "k")
        assert name in out.getvalue().replace("\n", ""), copy
        assert ("refuse the file" in out.getvalue()) == (refused is not None), copy
