"""Names of instants, and the timeline that is built from a listing of them."""

import re

import pytest
from history_samples import FOLDER, Archived, history_storage
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.errors import MalformedInstantName, MalformedTable
from hudi_reference.layout.properties import TableProperties
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.active import Timeline, build_timeline, load_timeline
from hudi_reference.timeline.history.history import History
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import ACTIONS, State

T, C = "20260101000000000", "20260101000001000"
REQUESTED, INFLIGHT, COMPLETED = State.REQUESTED, State.INFLIGHT, State.COMPLETED

#: The table of names, written out: file name -> action and state of the instant that it stands for.
NAMES = {
    f"{T}.commit.requested": ("commit", REQUESTED),
    f"{T}.inflight": ("commit", INFLIGHT),
    f"{T}_{C}.commit": ("commit", COMPLETED),
    f"{T}.deltacommit.requested": ("deltacommit", REQUESTED),
    f"{T}.deltacommit.inflight": ("deltacommit", INFLIGHT),
    f"{T}_{C}.deltacommit": ("deltacommit", COMPLETED),
    f"{T}.replacecommit.requested": ("replacecommit", REQUESTED),
    f"{T}.replacecommit.inflight": ("replacecommit", INFLIGHT),
    f"{T}_{C}.replacecommit": ("replacecommit", COMPLETED),
    f"{T}.clustering.requested": ("clustering", REQUESTED),
    f"{T}.clustering.inflight": ("clustering", INFLIGHT),
    f"{T}.compaction.requested": ("compaction", REQUESTED),
    f"{T}.compaction.inflight": ("compaction", INFLIGHT),
    f"{T}.logcompaction.requested": ("logcompaction", REQUESTED),
    f"{T}.logcompaction.inflight": ("logcompaction", INFLIGHT),
    f"{T}.clean.requested": ("clean", REQUESTED),
    f"{T}.clean.inflight": ("clean", INFLIGHT),
    f"{T}_{C}.clean": ("clean", COMPLETED),
    f"{T}.rollback.requested": ("rollback", REQUESTED),
    f"{T}.rollback.inflight": ("rollback", INFLIGHT),
    f"{T}_{C}.rollback": ("rollback", COMPLETED),
    f"{T}.restore.requested": ("restore", REQUESTED),
    f"{T}.restore.inflight": ("restore", INFLIGHT),
    f"{T}_{C}.restore": ("restore", COMPLETED),
    f"{T}.savepoint.inflight": ("savepoint", INFLIGHT),
    f"{T}_{C}.savepoint": ("savepoint", COMPLETED),
    f"{T}.indexing.requested": ("indexing", REQUESTED),
    f"{T}.indexing.inflight": ("indexing", INFLIGHT),
    f"{T}_{C}.indexing": ("indexing", COMPLETED),
}
EXTENSIONS = sorted({re.sub(r"^[\d_]+\.", "", name) for name in NAMES})


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_the_deployed_table_is_known(name: str) -> None:
    """TL-027, TL-028, TL-031, ER-002, ER-003: a name stands for its action, state and times, and is written back alike."""
    action, state = NAMES[name]
    instant = parse_instant_name(name)
    assert instant == Instant(T, action, state, C if state is COMPLETED else None)
    assert instant.file_name == name


@pytest.mark.parametrize(
    ("pending", "completed"), [("compaction", "commit"), ("logcompaction", "deltacommit"), ("clustering", "replacecommit")]
)
def test_services_complete_under_the_name_of_another_action(pending: str, completed: str) -> None:
    """TL-043, ER-003, ER-004, ER-006: their completed file has another action in its name; both names are one action."""
    done = Instant(T, pending, COMPLETED, C)
    assert done.file_name == f"{T}_{C}.{completed}"
    assert Instant(T, pending, REQUESTED).identity == Instant(T, completed, COMPLETED, C).identity


@pytest.mark.parametrize(
    "name",
    [
        f"{T}.savepoint.requested", f"{T}_{C}.compaction", f"{T}_{C}.logcompaction", f"{T}_{C}.clustering",
        f"{T}.commit.inflight", f"{T}.schemacommit.requested", f"{T}.commit.requested.8b2c", f".{T}.inflight.crc", "history",
        f"{T}_{C}.commit.1234-abcd", "_version_", "manifest_1", "hoodie.properties", f"x{T}.inflight", f"{T}.Commit", f"{T}",
        f"{T}_{C}_{C}.commit", f"{T}-{C}.commit", "", ".commit", f"{T}.", f"{T}.inflight\n",
        f"{T}.commit.requested~", "".join(chr(0x660 + int(digit)) for digit in T) + ".inflight",
    ],
)  # fmt: skip
def test_foreign_files_on_the_timeline_are_ignored(name: str) -> None:
    """TL-053: temporary files, checksums and names of no known form are not instants, and no errors."""
    assert parse_instant_name(name) is None


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("2026010100000.commit.requested", "TL-027"),
        (f"{T}0.inflight", "TL-027"),
        ("1.inflight", "TL-027"),
        (f"{T}_{C}.commit.requested", "TL-028"),
        (f"{T}_{C}.inflight", "TL-028"),
        (f"{T}.commit", "TL-031"),
        (f"{T}_1.commit", "TL-031"),
        (f"1_{C}.commit", "TL-031"),
        (f"{C}_{T}.deltacommit", "TL-004"),
        (f"{T}_{T}.clean", "TL-004"),
    ],
)
def test_a_malformed_instant_name_is_an_error(name: str, rule: str) -> None:
    """TL-004, TL-027, TL-028, TL-031: ignoring it could hide a write, so it is an error that names file and rule."""
    with pytest.raises(MalformedInstantName) as raised:
        parse_instant_name(name)
    assert (raised.value.rule, raised.value.path) == (rule, name)


def test_times_in_seconds_are_instants() -> None:
    """TT-001: reserved and old instants have 14 digits."""
    assert parse_instant_name("00000000000001.commit.requested") == Instant("00000000000001", "commit", REQUESTED)
    assert parse_instant_name(f"00000000000001_{C}.commit") == Instant("00000000000001", "commit", COMPLETED, C)


@bounded(300)
@given(st.text(alphabet="0123456789_.acdefilmnoprstuv", max_size=60) | st.text(max_size=30) | st.sampled_from(sorted(NAMES)))
def test_only_digits_and_a_known_extension_are_an_instant(name: str) -> None:
    """TL-027: a valid name has digits, an optional second group of digits, and an extension of the table; other names cause no
    crash.
    """
    try:
        instant = parse_instant_name(name)
    except MalformedInstantName:
        instant = None
        assert re.fullmatch(r"[0-9]+(_[0-9]+)?\.[a-z.]+", name)
    if instant is not None:
        assert instant.file_name == name
        assert name[len(instant.requested) :].lstrip("_0123456789")[1:] in EXTENSIONS


@st.composite
def instants(draw: st.DrawFn) -> Instant:
    """Any instant that a writer could name."""
    action, state = draw(st.sampled_from(sorted(set(NAMES.values()))))
    requested = draw(st.from_regex(r"\A[0-9]{17}\Z"))
    later = draw(st.integers(1, 10**6))
    completion = f"{int(requested) + later:017d}"[:17] if state is COMPLETED else None
    if completion is not None and completion <= requested:
        requested, completion = "0" * 17, "0" * 16 + "1"
    return Instant(requested, action, state, completion)


@bounded(200)
@given(instants())
def test_parsing_a_name_is_the_inverse_of_naming(instant: Instant) -> None:
    """TL-027 to TL-031: parsing a file name is the inverse of naming an instant."""
    assert parse_instant_name(instant.file_name) == instant


@bounded(100)
@given(st.lists(st.sampled_from(sorted(NAMES)), unique=True), st.randoms())
def test_the_highest_state_of_an_action_counts(found: list[str], chance: object) -> None:
    """TL-046: of an action's files the highest state counts, in whatever order they are listed."""
    chance.shuffle(found)  # type: ignore[attr-defined]
    expected: dict[tuple[str, str], State] = {}
    for name in found:
        action, state = NAMES[name]
        identity = (T, ACTIONS[action].completes_as)
        expected[identity] = max(state, expected.get(identity, state))
    assert {instant.identity: instant.state for instant in build_timeline(found)} == expected


def test_instants_are_in_order_of_their_requested_times() -> None:
    """TL-055: times are compared as texts; completion times do not affect the order."""
    built = build_timeline(["00000000000000003.inflight", "00000000000000001_00000000000000009.commit",
                            "00000000000000002_00000000000000004.commit", "foreign"])  # fmt: skip
    assert [instant.requested[-1] for instant in built] == ["1", "2", "3"]


def test_two_completions_of_one_action_count_once() -> None:
    """TL-053: two executors of one plan may both complete it; the first completion stands."""
    later = "20260101000009000"
    built = build_timeline([f"{T}_{later}.commit", f"{T}_{C}.commit", f"{T}.inflight", f"{T}.compaction.requested"])
    assert built == (Instant(T, "commit", COMPLETED, C),)


def test_a_savepoint_and_its_commit_are_two_actions() -> None:
    """ER-001: both have one requested time, and are two actions."""
    built = build_timeline([f"{T}_{C}.commit", f"{T}_{C}.savepoint"])
    assert [instant.action for instant in built] == ["commit", "savepoint"]


def timeline(*names: str, history: tuple[Archived, ...] = (), start: str | None = None) -> Timeline:
    """A timeline of these files and a history with these actions."""
    return Timeline(build_timeline(names), History(history_storage(history), FOLDER), start)


def test_completion_times_are_those_of_completed_writes() -> None:
    """RDR-008, TL-033: pending writes and other actions have none."""
    found = timeline(f"{T}_{C}.commit", "20260101000000002.inflight", "20260101000000003_20260101000000004.clean", start=T)
    assert found.completion_of(T) == C
    assert found.completion_of("20260101000000002") is None
    assert found.completion_of("20260101000000003") is None
    assert found.completion_of("20260101000000009") is None


def test_instants_older_than_the_timeline_count_as_completed() -> None:
    """RDR-009, TL-033: an instant below the start without a file on the timeline counts; the history may know when."""
    archived = ("20250101000000000", "20250101000000500", "commit")
    found = timeline(f"{T}_{C}.commit", history=(archived,), start=T)
    assert found.completion_of("20250101000000000") == "20250101000000500"
    assert found.completion_of("20250101000000001") == "20250101000000001"


def test_a_folder_in_place_of_an_instant_is_an_error() -> None:
    """TL-046: ignoring it would hide a write that completed; folders with other names are foreign."""
    storage = MemoryStorage()
    properties = TableProperties({})
    storage.put(f".hoodie/timeline/{T}.inflight", b"")
    storage.put(".hoodie/timeline/a folder/x", b"")
    assert len(load_timeline(storage, properties).instants) == 1
    storage.put(f".hoodie/timeline/{T}_{C}.commit/x", b"")
    with pytest.raises(MalformedInstantName) as raised:
        load_timeline(storage, properties)
    assert raised.value.rule == "TL-046"


@pytest.mark.parametrize("name", [f"{T}_{C}.commit", f"{T}.commit.requested", f"{T}.inflight"])
def test_a_file_that_was_not_renamed_has_not_changed_the_state(name: str) -> None:
    """TL-046: Apache Hudi stores a file under its name with a UUID and renames it. A writer that is killed before it renames
    the completed file has not completed its action, and leaves a timeline that is sound.
    """
    storage = MemoryStorage()
    storage.put(f".hoodie/timeline/{T}.inflight", b"")
    storage.put(f".hoodie/timeline/{name}.dd56275d-8776-49b8-a573-5836ead52825", b"{}")
    found = load_timeline(storage, TableProperties({}))
    assert [instant.file_name for instant in found.instants] == [f"{T}.inflight"]


def test_a_file_in_place_of_the_timeline_is_an_error() -> None:
    """LAY-017: it must not be read as an empty timeline, as a missing folder is."""
    storage = MemoryStorage()
    assert load_timeline(storage, TableProperties({})).instants == ()
    storage.put(".hoodie/timeline", b"")
    with pytest.raises(MalformedTable) as raised:
        load_timeline(storage, TableProperties({}))
    assert raised.value.rule == "LAY-017"


def test_a_divider_needs_a_second_time() -> None:
    """TL-037: a divider without a second time, signs and other digits make a foreign name."""
    for name in (
        f"{T}_.commit",
        f"_{C}.commit",
        f"{T}_{C}_.commit",
        "+" + T[1:] + ".inflight",
        f"{T}_²{C}.commit",
        f"{T} .inflight",
    ):
        assert parse_instant_name(name) is None
