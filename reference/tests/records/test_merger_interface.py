"""The interface of mergers gives the same results as decision tables and fast paths."""

import pickle
import warnings
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from merge_samples import COMMIT, EVENT, merges
from partial_update_samples import SCHEMA, Batch, histories, rows, whole
from reference_samples import bounded

from hudi_reference import create_table
from hudi_reference.errors import InvalidProperty, Misuse, UnknownMerger, UnsupportedMergeStrategy
from hudi_reference.files.log.content import Delete
from hudi_reference.layout.merge_settings import MergeSettings, configure_merging
from hudi_reference.layout.properties import TableProperties
from hudi_reference.records.changes import KEY, Changes
from hudi_reference.records.mergers.merger import BufferedRecord, Merging, RecordContext, RecordMerger
from hudi_reference.records.mergers.sample_mergers import SAMPLE_MERGERS
from hudi_reference.records.mergers.standard_mergers import CommitTimeMerger, EventTimeMerger
from hudi_reference.records.merging.merge_slice import merge_changes
from hudi_reference.records.payloads import PAYLOADS, log_position
from hudi_reference.records.payloads.merger_resolution import defaults_of, merging_of
from hudi_reference.storage import MemoryStorage

MERGERS: dict[str, RecordMerger] = {EVENT: EventTimeMerger(), COMMIT: CommitTimeMerger()}
PACKAGE = "org.apache.hudi.common.model."


def through(merging: Merging) -> Merging:
    """The result of the merger of the mode."""
    return replace(merging, mode="CUSTOM", merger=MERGERS[merging.mode])


@bounded(200)
@given(merges())
def test_standard_mergers_equal_the_fast_path(merge: tuple[pa.Table, Changes, Merging]) -> None:
    """MRG-001: the same rows for any versions, with ordering values of every type."""
    base, changes, merging = merge
    assume(len(changes))
    right = sorted(merge_changes(base, changes, merging).column("tag").to_pylist())
    assert sorted(merge_changes(base, changes, through(merging)).column("tag").to_pylist()) == right


@bounded(200)
@given(histories(), st.sampled_from([EVENT, COMMIT]))
def test_partial_merge_of_mergers_equals_the_tables(batches: list[Batch], mode: Any) -> None:
    """API-013, LF-046: whole and partial rows and deletes in any order."""
    contents = [found if found and isinstance(found[0], Delete) else rows(*found) for _, found in batches]  # type: ignore[arg-type]
    held = {number: frozenset((KEY, *names)) for number, (names, _) in enumerate(batches) if names is not None}
    changes, merging = Changes(contents, SCHEMA, held), Merging(mode, ("ts",))  # type: ignore[arg-type]
    assume(len(changes))
    base = rows(whole(2, "A", "B"))
    assert merge_changes(base, changes, through(merging)).to_pylist() == merge_changes(base, changes, merging).to_pylist()


def test_mergers_can_be_pickled() -> None:
    """A reader with its merger can be pickled, for any class."""
    for name in PAYLOADS:
        given = TableProperties({"hoodie.record.merge.mode": "CUSTOM", "hoodie.compaction.payload.class": name,
                                 "hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000"})  # fmt: skip
        merging = merging_of(given)
        assert pickle.loads(pickle.dumps(merging)) == merging
    for merger in SAMPLE_MERGERS:
        assert type(pickle.loads(pickle.dumps(merger))) is type(merger)


def test_a_payload_has_the_three_calls_of_the_older_interface() -> None:
    """PAY-003: two of one input, stored and incoming, a new key."""
    payload = PAYLOADS[f"{PACKAGE}OverwriteNonDefaultsWithLatestAvroPayload"]
    context = RecordContext(pa.schema([("ts", pa.int64()), ("a", pa.string())]), ("ts",))
    first, second = BufferedRecord("k", 2, {"ts": 2, "a": "x"}), BufferedRecord("k", 1, {"ts": 1, "a": None})
    assert payload.pre_combine(first, second, context) is first
    assert dict(payload.combine(first, second, context).row or {}) == {"ts": 1, "a": "x"}
    assert payload.insert(first) is first
    assert payload.insert(context.delete("k", 1)) is None


@pytest.mark.parametrize(("text", "position"), [("9.900", (9, 900)), ("10.4", (10, 4)), (None, None)])
def test_a_position_in_a_binary_log_is_two_numbers(text: str | None, position: Any) -> None:
    """PAY-022: file, then position."""
    assert log_position(text) == position


@pytest.mark.parametrize("text", ["", "7", "7.", ".7", "a.b", "-1.2", "1.2.x"])
def test_invalid_position_is_an_error(text: str) -> None:
    """PAY-022: it is never compared as text."""
    with pytest.raises(Exception, match="binary log"):
        log_position(text)


def test_defaults_are_values_of_their_columns() -> None:
    """PAY-015: bytes are texts in Avro, dates numbers; null is no default of its own."""
    fields = [
        {"name": "a", "type": "string", "default": "x"}, {"name": "b", "type": ["null", "string"], "default": None},
        {"name": "c", "type": {"type": "int", "logicalType": "date"}, "default": 1}, {"name": "d", "type": "bytes", "default": "ÿ"},
    ]  # fmt: skip
    found = defaults_of({"type": "record", "name": "r", "fields": fields})
    assert (found["a"], str(found["c"]), found["d"], "b" in found) == ("x", "1970-01-02", b"\xff", False)


def test_a_new_table_by_payload_class_says_that_it_is_deprecated() -> None:
    """PAY-001: it works; a merge mode says nothing of the kind."""
    with pytest.warns(DeprecationWarning, match="PartialUpdateAvroPayload"):
        made = _create(options={"hoodie.datasource.write.payload.class": f"{PACKAGE}PartialUpdateAvroPayload"})
    assert made.properties.merging.payload == f"{PACKAGE}PartialUpdateAvroPayload"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _create().properties.merge_mode == EVENT


def _create(**more: Any) -> Any:
    schema = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]}
    return create_table("memory:///t", name="t", schema=schema, record_key=("id",), ordering=("ts",), storage=MemoryStorage(),
                        **more)  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [
        {"merge_mode": "CUSTOM"},
        {"merge_mode": "COMMIT_TIME_ORDERING", "options": {"hoodie.write.record.merge.mode": EVENT}},
        {"options": {"hoodie.write.record.merge.strategy.id": "org.example.Merger"}},
    ],
)
def test_incomplete_and_contradicting_merge_settings_are_refused(more: Any) -> None:
    """MRG-021, MRG-035, API-006: the caller gets an error, and nothing is stored."""
    with pytest.raises(Misuse):
        _create(**more)


def test_classes_that_are_not_built_in_are_refused_by_name() -> None:
    """PAY-002: ExpressionPayload too, whose decisions are in no table."""
    for name in ("org.example.P", "org.apache.spark.sql.hudi.command.payload.ExpressionPayload"):
        found = TableProperties({"hoodie.compaction.payload.class": name})
        with pytest.raises(UnknownMerger) as raised:
            merging_of(found)
        assert name in str(raised.value)


def test_a_merger_refuses_partial_records_unless_it_says_how_they_merge() -> None:
    """API-013: no merger is asked for what it does not offer."""

    class Whole(RecordMerger):
        strategy_id = "0a0a0a0a-0000-4000-8000-00000000000a"

        def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
            return newer

    record, context = BufferedRecord("k", 1, {}), RecordContext(pa.schema([]))
    with pytest.raises(UnsupportedMergeStrategy):
        Whole().partial_merge(record, record, context.schema, context)


def test_incomplete_delete_marker_is_an_error() -> None:
    """MRG-014: the field without its value."""
    with pytest.raises(InvalidProperty):
        merging_of(TableProperties({"hoodie.payload.delete.field": "op", "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}))


def test_settings_are_those_of_a_writer() -> None:
    """MRG-036: the configuration that follows from a strategy id is a custom mode."""
    found = configure_merging(
        None, MergeSettings.from_options({"hoodie.datasource.write.record.merger.strategy": SAMPLE_MERGERS[0].strategy_id}), ()
    )
    assert (found.mode, found.strategy) == ("CUSTOM", SAMPLE_MERGERS[0].strategy_id)
