"""The timeline from the names of its files, and the history files that a range of times needs."""

from collections.abc import Iterator, Sequence

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, Json, Test, invalid_test, number_tests, valid_test


def cases() -> Iterator[VectorCase]:
    """Names of instants, and of files of the history."""
    yield VectorCase(
        area="timeline",
        name="built-from-names",
        requirements=["TL-046", "TL-053", "TL-054", "TL-031", "RDR-003"],
        says="An action is on the timeline once, in its highest state; completed actions are in order of completion.",
        needs=["compute.timeline.build"],
        flags=["silent-stale", "dirty-read"],
        errata=["ER-001", "ER-002", "ER-003", "ER-004", "ER-006"],
        function="timeline.build",
        derived_by=[HAND],
        notes={
            "leftovers": "Files of earlier states remain; they are not separate actions.",
            "other-word": "Compaction, log compaction and clustering complete under the action name of what they write.",
            "same-time": "A savepoint has the requested time of the commit that it protects and is another action.",
            "out-of-order": "Completion times decide the order of writes, not requested times.",
            "foreign": "Names that are not names of instants are ignored.",
            "no-calendar": "Times are texts, also if they are not calendar times.",
        },
        tests=number_tests(_states(), _orders(), _foreign(), _wrong()),
        if_it_fails="Group the names by requested time and completed action; use the highest state of each group.",
    )
    yield VectorCase(
        area="timeline",
        name="history-files-in-range",
        requirements=["LSM-025", "LSM-013"],
        says="A query for a range of requested times reads the history files whose names overlap the range, and no others.",
        needs=["compute.history.files-in-range"],
        flags=["lost-write"],
        errata=["ER-039", "ER-083"],
        function="history.files-in-range",
        derived_by=[HAND],
        notes={
            "edge": "Both ends of the range and both times of a name are included.",
            "enclosing": "A range may lie inside the times of one file, or a file inside the range.",
            "backwards": (
                "The upgrade from version 6 writes names whose first time is the later one: such files must not be skipped."
            ),
            "levels": "Files of all levels, also with two digits, may contain a time; levels overlap.",
        },
        tests=number_tests(_ranges()),
        if_it_fails="Skip a file only if its second time is before the range or its first time is after it.",
    )


def _t(number: int) -> str:
    """An instant time."""
    return f"2026010100{number:07}"


def _done(*actions: tuple[int, int, str]) -> list[Json]:
    return [{"requested": _t(r), "completion": _t(c), "action": action} for r, c, action in actions]


def _todo(*actions: tuple[int, str, str]) -> list[Json]:
    return [{"requested": _t(r), "action": action, "state": state} for r, action, state in actions]


def _built(comment: str, names: Sequence[str], completed: list[Json], pending: list[Json], *flags: str) -> Test:
    return valid_test(comment, {"names": list(names)}, {"completed": completed, "pending": pending}, *flags)


#: Name of the pending action, extension of the inflight file, name of the completed action.
_WORDS = (
    ("commit", "inflight", "commit"),
    ("deltacommit", "deltacommit.inflight", "deltacommit"),
    ("replacecommit", "replacecommit.inflight", "replacecommit"),
    ("compaction", "compaction.inflight", "commit"),
    ("logcompaction", "logcompaction.inflight", "deltacommit"),
    ("clustering", "clustering.inflight", "replacecommit"),
    ("clean", "clean.inflight", "clean"),
    ("rollback", "rollback.inflight", "rollback"),
    ("restore", "restore.inflight", "restore"),
    ("indexing", "indexing.inflight", "indexing"),
)


def _states() -> Iterator[Test]:
    yield _built("nothing", [], [], [])
    for action, inflight, word in _WORDS:
        flags = ["leftovers", *(["other-word"] if action != word else [])]
        requested, running, completed = f"{_t(1)}.{action}.requested", f"{_t(1)}.{inflight}", f"{_t(1)}_{_t(2)}.{word}"
        yield _built(f"{action}, requested", [requested], [], _todo((1, action, "REQUESTED")))
        yield _built(f"{action}, inflight", [running, requested], [], _todo((1, action, "INFLIGHT")), "leftovers")
        yield _built(f"{action}, inflight alone", [running], [], _todo((1, action, "INFLIGHT")))
        yield _built(f"{action}, completed", [requested, completed, running], _done((1, 2, word)), [], *flags)
        yield _built(f"{action}, completed alone", [completed], _done((1, 2, word)), [])
        yield _built(f"{action}, without its inflight file", [completed, requested], _done((1, 2, word)), [], *flags)
    savepoint = f"{_t(1)}.savepoint.inflight"
    yield _built("a savepoint under way", [savepoint], [], _todo((1, "savepoint", "INFLIGHT")))
    beside = [savepoint, f"{_t(1)}_{_t(9)}.savepoint", f"{_t(1)}_{_t(2)}.commit", f"{_t(1)}.inflight"]
    yield _built("a savepoint beside its commit", beside, _done((1, 2, "commit"), (1, 9, "savepoint")), [], "same-time")
    half = [savepoint, f"{_t(1)}_{_t(2)}.commit"]
    yield _built("one under way beside it", half, _done((1, 2, "commit")), _todo((1, "savepoint", "INFLIGHT")), "same-time")
    three = [f"{_t(1)}.commit.requested", f"{_t(1)}.inflight", f"{_t(1)}_{_t(2)}.commit", f"{_t(3)}.commit.requested",
             f"{_t(3)}.inflight"]  # fmt: skip
    yield _built(
        "one action completed, one inflight", three, _done((1, 2, "commit")), _todo((3, "commit", "INFLIGHT")), "leftovers"
    )


def _orders() -> Iterator[Test]:
    late = [f"{_t(1)}_{_t(40)}.deltacommit", f"{_t(2)}_{_t(3)}.deltacommit", f"{_t(10)}_{_t(11)}.commit"]
    order = _done((2, 3, "deltacommit"), (10, 11, "commit"), (1, 40, "deltacommit"))
    yield _built("the first to begin completes last", late, order, [], "out-of-order")
    yield _built("in another order of the listing", late[::-1], order, [], "out-of-order")
    nested = [f"{_t(n)}_{_t(100 - n)}.deltacommit" for n in range(1, 9)]
    yield _built(
        "each write within the one before", nested, _done(*((n, 100 - n, "deltacommit") for n in range(8, 0, -1))), [],
        "out-of-order",
    )  # fmt: skip
    beside = [f"{_t(1)}.deltacommit.inflight", f"{_t(2)}_{_t(3)}.deltacommit"]
    yield _built(
        "a pending write before a completed one",
        beside,
        _done((2, 3, "deltacommit")),
        _todo((1, "deltacommit", "INFLIGHT")),
    )
    yield _built(
        "pending ones by requested time",
        [f"{_t(9)}.clean.requested", f"{_t(5)}.inflight", f"{_t(7)}.compaction.requested"],
        [],
        _todo((5, "commit", "INFLIGHT"), (7, "compaction", "REQUESTED"), (9, "clean", "REQUESTED")),
    )
    reserved = "00000000000000001"
    yield valid_test(
        "a first commit of a metadata table",
        {"names": [f"{reserved}.deltacommit.requested", f"{reserved}_{_t(1)}.deltacommit"]},
        {"completed": [{"requested": reserved, "completion": _t(1), "action": "deltacommit"}], "pending": []},
        "no-calendar",
    )
    seconds = "20251231235959"
    yield valid_test(
        "a requested time in seconds",
        {"names": [f"{seconds}_{_t(1)}.commit", f"{_t(2)}_{_t(3)}.commit"]},
        {
            "completed": [{"requested": seconds, "completion": _t(1), "action": "commit"}, *_done((2, 3, "commit"))],
            "pending": [],
        },
        "no-calendar",
    )


def _foreign() -> Iterator[Test]:
    names = [
        f".{_t(1)}_{_t(2)}.commit.crc", f"{_t(1)}_{_t(2)}.commit.0d7c6f1e-6a53-4d0e-9a0e-0f8a3d1f6b1c", f"{_t(1)}.commit.tmp",
        f"{_t(1)}_{_t(2)}.commit~", f"{_t(1)}.savepoint.requested", f"{_t(1)}_{_t(2)}.compaction", f"{_t(1)}_{_t(2)}.unheard",
        f"{_t(1)}", f"{_t(1)}_{_t(2)}", "history", "_version_", "hoodie.properties", f"x{_t(1)}.inflight", f"{_t(1)}.INFLIGHT",
    ]  # fmt: skip
    for name in names:
        yield _built(f"alone: {name.replace(_t(1), 'T').replace(_t(2), 'C')}", [name], [], [], "foreign")
    among = [*names, f"{_t(5)}_{_t(6)}.clean"]
    yield _built("all of them around one action", among, _done((5, 6, "clean")), [], "foreign")


def _wrong() -> Iterator[Test]:
    for comment, name in (
        ("a requested time of thirteen digits", f"{_t(1)[:13]}_{_t(2)}.commit"),
        ("a completion time of sixteen digits", f"{_t(1)}_{_t(2)[:16]}.commit"),
        ("completed before it was requested", f"{_t(2)}_{_t(1)}.commit"),
        ("completed when it was requested", f"{_t(1)}_{_t(1)}.commit"),
    ):
        yield {**invalid_test(comment, {"names": [name]}), **_tolerated(name)}


def _tolerated(name: str) -> dict[str, Json]:
    """The answer of an engine that accepts the name; it is right for all other actions too."""
    times, _, action = name.partition(".")
    requested, _, completion = times.partition("_")
    value = {"completed": [{"requested": requested, "completion": completion, "action": action}], "pending": []}
    return {"result": "acceptable", "value": value}


_FILES = [f"{_t(0)}_{_t(90)}_1.parquet", f"{_t(100)}_{_t(190)}_0.parquet", f"{_t(200)}_{_t(290)}_0.parquet"]
_OVERLAPPING = [f"{_t(0)}_{_t(250)}_2.parquet", *_FILES[1:], f"{_t(150)}_{_t(210)}_10.parquet"]
_BACKWARDS = [f"{_t(90)}_{_t(0)}_0.parquet", *_FILES[1:]]


def _range(comment: str, names: list[str], begin: int, end: int, found: list[int], *flags: str) -> Test:
    arguments = {"names": names, "begin": _t(begin), "end": _t(end)}
    return valid_test(comment, arguments, [names[place] for place in found], *flags)


def _ranges() -> Iterator[Test]:
    yield _range("everything", _FILES, 0, 999, [0, 1, 2], "enclosing")
    yield _range("the newest file", _FILES, 200, 290, [2])
    yield _range("from the last time of a file on", _FILES, 190, 290, [1, 2], "edge")
    yield _range("up to the first time of a file", _FILES, 95, 100, [1], "edge")
    yield _range("one time, the first of a file", _FILES, 100, 100, [1], "edge")
    yield _range("one time, the last of a file", _FILES, 190, 190, [1], "edge")
    yield _range("within one file", _FILES, 120, 130, [1], "enclosing")
    yield _range("one file within it", _FILES, 95, 195, [1], "enclosing")
    yield _range("between two files", _FILES, 191, 199, [])
    yield _range("after all of them", _FILES, 291, 999, [])
    yield _range("no file at all", [], 0, 999, [])
    yield _range("levels that overlap", _OVERLAPPING, 205, 260, [0, 2, 3], "levels")
    yield _range("a level of two digits alone", _OVERLAPPING[3:], 210, 220, [0], "levels", "edge")
    yield _range("a name that runs backwards, beside the range", _BACKWARDS, 200, 290, [0, 2], "backwards")
    yield _range("a name that runs backwards, around the range", _BACKWARDS, 10, 20, [0], "backwards")
    yield _range("a name that runs backwards, at its end", _BACKWARDS, 90, 100, [0, 1], "backwards", "edge")
    for comment, name in (
        ("a manifest", "manifest_1"),
        ("a name with one time", f"{_t(1)}_0.parquet"),
        ("another extension", f"{_t(1)}_{_t(2)}_0.orc"),
    ):
        yield invalid_test(comment, {"names": [name], "begin": _t(0), "end": _t(9)})
