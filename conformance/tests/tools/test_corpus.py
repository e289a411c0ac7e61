"""The corpus below table level: byte-identical when written again, and put together as published bytes are."""

import json

import pytest
from tools.corpus import registry, writing
from tools.corpus.case import FileCase, Variant, distinct
from tools.corpus.hfile.builder import Shape, hfile
from tools.corpus.log.builder import COMMAND, INSTANT, TARGET, Block, inspection
from tools.corpus.log.envelope_damage import patch

from hudi_conformance.cases.case import load
from hudi_conformance.cases.file_cases import Variant as LoadedVariant

MADE = registry.everything()
FILES = [one for one in MADE if isinstance(one.case, FileCase)]
MEGABYTE = 1_000_000

#: A rollback of 105 bytes, in the layout of one that Apache Hudi wrote.
ROLLBACK = """
    23 48 55 44 49 23  00 00 00 00 00 00 00 5b  00 00 00 01  00 00 00 00  00 00 00 03
    00 00 00 00 00 00 00 11 32 30 32 35 30 31 30 31 30 30 30 30 30 30 30 30 32
    00 00 00 01 00 00 00 11 32 30 32 35 30 31 30 31 30 30 30 30 30 30 30 30 31
    00 00 00 03 00 00 00 01 30  00 00 00 00 00 00 00 00  00 00 00 00  00 00 00 00 00 00 00 61
"""
#: The first data block of an HFile of two entries as HBase writes it, its checksum behind it.
DATA_BLOCK = """
    44415441424c4b2a 00000032 0000002e ffffffffffffffff 02 00004000 0000004f
    0000000d 00000001 0001 61 007fffffffffffffff04 31 00 0000000d 00000001 0001 62 007fffffffffffffff04 32 00 b584266b
"""


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.case.id)
def test_a_case_is_what_its_module_says(made):
    """Every file of a case is byte-identical when made again; `python -m tools.corpus` writes it."""
    assert list(writing.differences(made)) == []


def test_every_committed_case_is_made():
    """No case is left behind when it gets another name; `python -m tools.corpus` removes such."""
    assert writing.orphans(MADE) == []


def test_a_block_is_laid_out_as_a_published_one():
    """The builder of log blocks gives the bytes of a rollback as Apache Hudi lays it out."""
    block = Block("command", [(INSTANT, "20250101000000002"), (TARGET, "20250101000000001"), (COMMAND, "0")])
    assert block.data == bytes.fromhex(ROLLBACK)


def test_an_hfile_is_laid_out_as_a_published_one():
    """The builder of HFiles gives the block and the checksum that HBase writes, and a file of the same length."""
    made = hfile([(b"a", b"1"), (b"b", b"2")], Shape(meta={"m": b"hi"}))
    assert made.data.startswith(bytes.fromhex(DATA_BLOCK))
    assert (made.blocks["root"], made.blocks["trailer"], len(made.data)) == (122, 461, 4557)


def test_damage_is_described_up_to_the_next_magic():
    """Bytes that are no block are one corrupt block for each magic among them, also one that the next block completes."""
    block = Block("command", [])
    shown = inspection(b"xx#HUDI#y#HUDI", block)["blocks"]
    assert [(one["offset"], one["length"], one["type"]) for one in shown[:3]] == [
        (0, 2, "corrupt"),
        (2, 7, "corrupt"),
        (9, 5, "corrupt"),
    ]
    assert shown[3]["offset"] == 14


@pytest.mark.parametrize(("old", "new"), [(b"abc", b"axc"), (b"aaa", b"aa"), (b"", b"x"), (b"ab", b""), (b"abab", b"ababab")])
def test_a_patch_makes_the_new_bytes(old, new):
    """The replacement that is found turns the old bytes into the new ones."""
    assert Variant(name="v", patches=[patch(old, new)]).of(old) == new


def test_the_loader_patches_like_the_maker():
    """A variant's bytes are those that its maker meant, when the suite makes them from what is committed."""
    for one in FILES:
        for variant in one.case.variants:
            loaded = LoadedVariant.from_json(json.loads(json.dumps(variant.to_json())))
            assert loaded.applied(one.case.content) == variant.of(one.case.content)


def test_every_case_can_be_loaded():
    """Case files and variants have the shape that the suite demands."""
    for one in MADE:
        case = load(writing.folder_of(one) / "case.json")
        assert case.id == one.case.id
        assert bool(case.variants) == bool(isinstance(one.case, FileCase) and one.case.variants)


def test_every_file_names_its_danger_and_how_to_debug():
    """A file below table level has flags, and a word on what a failure means."""
    assert [one.case.id for one in FILES if not one.case.flags or len(one.case.if_it_fails) < 20] == []


def test_variants_of_a_family_differ():
    """No two members of a family have one name, or the bytes of another."""
    for one in FILES:
        names = {variant.name for variant in one.case.variants}
        assert len(names) == len(one.case.variants), one.case.id
        assert len(distinct(one.case.variants, one.case.content)) == len(names), one.case.id


def test_the_corpus_stays_small():
    """All files of the corpus together stay below 8 MB."""
    sizes = [path.stat().st_size for one in MADE for path in writing.folder_of(one).rglob("*") if path.is_file()]
    assert sum(sizes) < 8 * MEGABYTE


def test_blocks_lie_where_the_inspection_says():
    """Offsets and lengths of an expectation cover a file that was put together, without gap."""
    for one in FILES:
        if one.case.area == "log" and one.case.inspect and one.case.content is not None:
            ends = [block["offset"] + block["length"] for block in one.case.inspect["blocks"]]
            assert [block["offset"] for block in one.case.inspect["blocks"]] == [0, *ends][: len(ends)], one.case.id
            assert [0, *ends][-1] == len(one.case.content), one.case.id
