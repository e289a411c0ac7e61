"""Records of actions: records of Apache Hudi are written again byte by byte, and unknown fields are kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from hudi_reference.errors import MalformedMetadata, Misuse
from hudi_reference.timeline.contents.actions import read_action, write_action
from hudi_reference.timeline.contents.avro_container import schema_of
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import ACTIONS, State
from hudi_reference.timeline.instants.version_6 import LegacyInstant

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "actions"
REAL = sorted(path for case in FIXTURES.iterdir() if '"apache-hudi"' in (case / "case.json").read_text("utf-8")
              for path in (case / "bytes").iterdir())  # fmt: skip
FURTHER = sorted(path for case in FIXTURES.glob("*.further-fields") for path in (case / "bytes").iterdir())
T = "20260101000000000"
MARKER = bytes(range(16))


def instant_of(path: Path) -> Instant:
    """The instant of a file name."""
    instant = parse_instant_name(path.name)
    assert instant is not None
    return instant


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.parts[-3])
def test_a_file_of_apache_hudi_is_written_again_byte_by_byte(path: Path) -> None:
    """TL-002: schema text, file metadata, order of fields and of map entries are those of the deployed writer."""
    data, instant = path.read_bytes(), instant_of(path)
    record = read_action(data, path.name, instant)
    assert write_action(instant, record, data[-16:]) == data
    if record is not None:
        assert write_action(instant, dict(record), data[-16:]) == data, "under the schemas of this package"


@pytest.mark.parametrize("path", FURTHER, ids=lambda path: path.parts[-3])
def test_unknown_fields_are_kept(path: Path) -> None:
    """Fields of a later release are there after reading, after changing a known one, and after writing."""
    data, instant = path.read_bytes(), instant_of(path)
    record = read_action(data, path.name, instant)
    assert record is not None
    assert record["number"] == 7
    assert write_action(instant, record, data[-16:]) == data
    record["version"] = 2
    again = read_action(write_action(instant, record, MARKER), path.name, instant)
    assert again == record
    assert again is not None
    assert again.schema == record.schema


def test_every_record_of_the_table_has_a_schema() -> None:
    """The names in the table of states are those of the schemas, and every schema is of an action."""
    named = {name for action in ACTIONS.values() if not action.in_schema_folder for content in action.contents.values()
             for name in content.records}  # fmt: skip
    avsc = Path(__file__).resolve().parents[2] / "hudi_reference/timeline/contents/avsc"
    assert named == {path.stem for path in avsc.iterdir()}
    assert {name: schema_of(name)["name"] for name in named} == {name: name for name in named}


@pytest.mark.parametrize(
    ("action", "state", "record"),
    [
        ("clean", State.REQUESTED, None),
        ("replacecommit", State.REQUESTED, None),
        ("savepoint", State.COMPLETED, None),
        ("clean", State.REQUESTED, {"policy": "p", "unheard": 1}),
        ("clean", State.REQUESTED, {"policy": 5}),
        ("clean", State.REQUESTED, {}),
        ("compaction", State.INFLIGHT, {"operations": []}),
        ("commit", State.COMPLETED, {"compacted": "yes"}),
        (
            "savepoint",
            State.COMPLETED,
            {"savepointedBy": "me", "savepointedAt": 2**70, "comments": "", "partitionMetadata": {}},
        ),
    ],
)
def test_invalid_contents_are_not_written(action: str, state: State, record: dict[str, Any] | None) -> None:
    """TL-014, TL-026: an empty plan, an unknown field and a value of another type are refused."""
    with pytest.raises(Misuse):
        write_action(Instant(T, action, state, f"{T[:-1]}1"), record, MARKER)


def test_the_record_of_another_action_is_not_written() -> None:
    """TL-014: a plan read from one file does not go into another action's."""
    clean = Instant(T, "clean", State.REQUESTED)
    plan = read_action(write_action(clean, {"policy": "p"}, MARKER), "x", clean)
    assert plan is not None
    with pytest.raises(Misuse, match="belongs to another action"):
        write_action(Instant(T, "rollback", State.REQUESTED), plan, MARKER)


def test_json_of_an_upgrade_is_read_as_a_record() -> None:
    """Pending files of an upgraded table hold JSON: absent fields are null, unknown ones are kept."""
    text = {"operationType": "INSERT", "partitionToWriteStats": {"p": [{"fileId": "f", "x": 1}]}, "later": 2}
    record = read_action(json.dumps(text).encode(), "x", Instant(T, "replacecommit", State.INFLIGHT))
    assert record is not None
    assert (record["operationType"], record["later"], record["compacted"], record["version"]) == ("INSERT", 2, None, 1)
    (stat,) = record["partitionToWriteStats"]["p"]
    assert (stat["fileId"], stat["x"], stat["path"], stat["numInserts"]) == ("f", 1, None, None)


def test_json_in_a_file_that_has_no_record_is_refused() -> None:
    """The inflight file of a compaction is empty in every version; a record in it belongs to another action."""
    with pytest.raises(MalformedMetadata):
        read_action(b"{}", "x", LegacyInstant(T, "compaction", State.INFLIGHT))


@pytest.mark.parametrize("data", [b"{", b"{} x", b'{"a": NaN', b"{" * 100_000])
def test_damaged_json_is_refused(data: bytes) -> None:
    """Text that begins like a JSON object and is not one is an error."""
    with pytest.raises(MalformedMetadata):
        read_action(data, "x", Instant(T, "commit", State.INFLIGHT))
