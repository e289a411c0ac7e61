"""Crash points: a program is stopped after each of its changes."""

from hudi_conformance.explorer.crash_points import CrashingStorage, copy_storage, crash_states
from hudi_reference.storage import MemoryStorage


def program(storage):
    storage.list()
    storage.create("a", b"1")
    storage.get("a")
    storage.put("b", b"2")
    storage.delete("a")


def test_state_after_each_change():
    """The states after 0, 1, 2 and 3 changes; only in the last one the program has ended; earlier objects are unchanged."""
    before = MemoryStorage()
    before.put("z", b"0")
    found = [(sorted(info.path for info in crash.storage.list()), crash.ended) for crash in crash_states(before, program)]
    assert found == [(["z"], False), (["a", "z"], False), (["a", "b", "z"], False), (["b", "z"], True)]
    assert [info.path for info in before.list()] == ["z"], "the storage that was given is left alone"


def test_error_handlers_do_not_catch_a_crash():
    """A program that catches all errors crashes nevertheless."""

    def stubborn(storage):
        try:
            storage.put("a", b"")
        except Exception:
            storage.put("b", b"")

    first, last = crash_states(MemoryStorage(), stubborn)
    assert not first.ended and not first.storage.list()
    assert last.ended and last.changes == ("put a",)


def test_a_copy_is_independent():
    """Changes of the copy do not reach the original."""
    storage = MemoryStorage()
    storage.put("a", b"1")
    CrashingStorage(copy_storage(storage), 9).delete("a")
    assert storage.get("a") == b"1"
