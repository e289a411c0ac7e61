"""Drawn tables: the same table for a number each time, and the order in which the writes of several writers are merged."""

import hashlib
from pathlib import Path

import pytest
from tools.drawn_tables import by_reference
from tools.drawn_tables.changing import draw_changing
from tools.drawn_tables.drawing import draw
from tools.drawn_tables.drawings import DRAWINGS
from tools.drawn_tables.further import FIXED, draw_further, folded
from tools.drawn_tables.judging import Judge, in_order

#: Tables of the further drawing that the reference makes quickly: fields of records, and non-blocking writers.
MADE = [4, 13, 16, 19, 21, 22, 23, 29]


def test_a_number_always_has_the_same_table() -> None:
    """Drawing depends on number and seed alone: another drawing does not change the tables of the usual one."""
    for drawing in DRAWINGS.values():
        assert [drawing(number, 3).recipe for number in range(4)] == [drawing(number, 3).recipe for number in range(4)]
    told = repr([(one.recipe.table, one.recipe.steps) for one in (draw(number, 1) for number in range(12))])
    assert hashlib.sha256(told.encode()).hexdigest() == USUAL_TABLES


#: The hash of the first tables of seed 1, whose numbers are in the evidence of errata.
USUAL_TABLES = "b74a6c6a615755e3ce952d34c8b302291e8b27057c9d6531c30e7e7eeec7d6c3"


def test_fields_of_records_become_records() -> None:
    """`m.ts` is the field `ts` of the record in `m`, at any depth."""
    assert folded({"id": "a", "m.ts": 1, "b": 2, "m.of.x": None}) == {"id": "a", "m": {"ts": 1, "of": {"x": None}}, "b": 2}


def test_a_slow_write_is_merged_into_the_compaction_before_its_end() -> None:
    """Writes are merged by requested time, but one that completes after the request of a compaction is merged after it."""
    slow, quick, late = ("10", "60", "upsert", ()), ("20", "30", "upsert", ()), ("70", "80", "upsert", ())
    compaction = ("40", "50", "compact", ())
    assert in_order([quick, slow, late]) == [slow, quick, late]
    assert in_order([quick, compaction, slow, late]) == [quick, compaction, slow, late]


def test_every_choice_is_drawn() -> None:
    """Each step `begin` has its `finish`; each kind of merging and placing of the list is drawn."""
    drawn = [draw_further(number, 2) for number in range(len(FIXED))]
    for one in drawn:
        steps = one.recipe.steps
        begun = [number for number, step in enumerate(steps) if step.kind == "begin"]
        assert begun == [step.of for step in steps if step.kind == "finish"]
        assert bool(begun) == (one.axes["writers"] == "non-blocking")
    assert {fixed["merging"] for fixed in FIXED if "merging" in fixed} <= {one.axes["merging"] for one in drawn}


@pytest.mark.filterwarnings("ignore:payload classes such as:DeprecationWarning")
@pytest.mark.parametrize("number", MADE)
def test_the_reference_answers_as_the_model(tmp_path: Path, number: int) -> None:
    """Tables with fields of records as keys, partitions and ordering fields, with several ordering fields of different types,
    and with non-blocking writers: each query of the reference has the rows of the model.
    """
    drawn = draw_further(number, 6)
    by_reference.make(drawn, tmp_path)
    assert list(Judge(drawn, tmp_path).differences()) == []


@pytest.mark.parametrize("number", [3, 6, 13, 19])
def test_indexes_that_change_lose_no_row(tmp_path: Path, number: int) -> None:
    """Each write of the reference creates, maintains or drops indexes as its settings say; a filter has the rows of the model."""
    drawn = draw_changing(number, 6)
    settings = {tuple(sorted(step.options.items())) for step in drawn.recipe.steps}
    assert len(settings) > 1
    by_reference.make(drawn, tmp_path)
    assert list(Judge(drawn, tmp_path).differences()) == []
