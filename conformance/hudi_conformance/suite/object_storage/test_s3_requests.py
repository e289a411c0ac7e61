"""The requests of writers to an object store: how many state files they create, and how they handle missing answers.

Each test runs the reference in this process behind the proxy, and defines the fault of each request.
"""

import re
from collections.abc import Collection, Mapping

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.s3.http_messages import Request
from hudi_conformance.explorer.s3.proxy import Exchange, FaultOf
from hudi_conformance.explorer.s3.run import Run, run_processes
from hudi_conformance.explorer.s3.scheduling import InOrder
from hudi_conformance.explorer.simulation.runs import Choice
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.object_store import LOCKED, ObjectStore
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_reference import clean
from hudi_reference.errors import AccessDenied, OutcomeUnknown, StorageFault, StorageUnavailable, UnfitStorage
from hudi_reference.storage import ObjectChanged, ObjectExists

pytestmark = [pytest.mark.s3, pytest.mark.needs("create", "write.upsert", "storage.s3")]

FIRST = (row("a", 1, "first"), row("b", 1, "first"))
#: The state files of instants, and the other files in the timeline folder.
TIMELINE = ".hoodie/timeline/"


CHANGES = ("create", "replace", "put", "delete many")
#: Every request is delayed once, or its answer is lost once; the writer is not affected.
PASSING = ("lose-request", "lose-answer", "answer-409", "answer-500", "answer-503", "apply-answer-500", "cut-body")


def each_once(fault: str, kinds: Collection[str]) -> FaultOf:
    """Return a rule that applies the fault to the first request of each kind and object, and not when it is repeated."""
    seen: set[tuple[str, str]] = set()

    def fault_of(request: Request) -> str | None:
        place = (request.kind, request.place)
        if request.kind not in kinds or place in seen:
            return None
        seen.add(place)
        return fault

    return fault_of


def find_error(found: Run, process: str) -> Exception:
    """Return the error of a process."""
    error = found.results[process].error
    assert error is not None, f"{process} {found.results[process]}"
    return error


@pytest.mark.requirements("S3-001")
@pytest.mark.parametrize("fault", PASSING)
def test_writes_survive_a_fault_of_each_request(engine: Client, object_store: ObjectStore, fault: str) -> None:
    """S3-001: each request is delayed once, or carried out with its answer lost: the write succeeds with one action, and each
    state is created once.
    """
    only_in_process(engine)
    table, clock = object_store.create_table(Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", False), FIRST)
    kinds = CHANGES if fault != "cut-body" else ("get", "list")
    write = object_store.upsert("writer", table, clock, [row("a", 2, "second")])
    found = run_processes(object_store.proxy, {"writer": write}, fault_of=each_once(fault, kinds))
    assert found.results["writer"].how == "returned", found.results["writer"]
    faulty = [exchange for exchange in found.exchanges if exchange.fault]
    assert len(faulty) >= (10 if kinds == CHANGES else 4), found.trace
    assert object_store.values(table) == {"a": "second", "b": "first"}
    assert len(object_store.completed(table)) == 2
    carried_out = [e.request.place for e in found.exchanges if e.request.kind == "create" and e.changed]
    assert len(carried_out) == len(set(carried_out)), found.trace


@pytest.mark.requirements("S3-002")
@pytest.mark.parametrize("content", [b"", b"content"], ids=["empty", "full"])
@pytest.mark.parametrize(
    ("schedule", "winner"),
    [
        ([Choice("a", "lose-request"), "b"], "b"),
        ([Choice("a", "lose-answer"), "b"], "a"),
        ([Choice("a", "answer-409"), "b"], "b"),
        ([Choice("a", "answer-409"), "a", "a", "b"], "a"),
        ([Choice("a", "answer-409"), Choice("b", "answer-409"), "b", "b", "a", "a"], "b"),
        ([Choice("a", "apply-answer-500"), Choice("b", "lose-request")], "a"),
        ([Choice("a", "answer-503"), Choice("b", "lose-answer")], "b"),
    ],
    ids=str,
)
def test_one_creator_wins_if_answers_are_lost(
    engine: Client, object_store: ObjectStore, schedule: list[Choice | str], winner: str, content: bytes
) -> None:
    """S3-002: of two creators of one object exactly one succeeds, also if answers are lost and contents are equal."""
    only_in_process(engine)
    table, clients = object_store.new_table(), {}
    for name in ("a", "b"):
        clients[name] = object_store.storage(name, table)
        clients[name].create(f"warm-up-{name}", b"")
    creators = {name: lambda name=name: clients[name].create("object", content) for name in clients}
    found = run_processes(object_store.proxy, creators, InOrder(tuple(creators), schedule))
    assert found.results[winner].how == "returned", found.trace
    (loser,) = {"a", "b"} - {winner}
    assert isinstance(find_error(found, loser), ObjectExists), found.trace
    assert sum(e.changed for e in found.exchanges if e.request.kind == "create") == 1


@pytest.mark.requirements("S3-003")
@pytest.mark.parametrize(
    ("schedule", "winner"),
    [
        ([Choice("a", "lose-answer"), "b"], "a"),
        ([Choice("a", "lose-request"), "b"], "b"),
        ([Choice("a", "answer-409"), "a", "a", "b"], "a"),
    ],
    ids=str,
)
def test_one_replacement_wins_if_answers_are_lost(
    engine: Client, object_store: ObjectStore, schedule: list[Choice | str], winner: str
) -> None:
    """S3-003: of two processes that replace the same version exactly one succeeds."""
    only_in_process(engine)
    table, clients = object_store.new_table(), {}
    object_store.storage("suite", table).create("object", b"before")
    for name in ("a", "b"):
        clients[name] = object_store.storage(name, table)
        clients[name].create(f"warm-up-{name}", b"")
    info = clients["a"].head("object")
    assert info is not None
    acts = {name: lambda name=name: clients[name].replace("object", name.encode(), info.version) for name in clients}
    found = run_processes(object_store.proxy, acts, InOrder(tuple(acts), schedule))
    assert found.results[winner].how == "returned", found.trace
    (loser,) = {"a", "b"} - {winner}
    assert isinstance(find_error(found, loser), ObjectChanged), found.trace
    assert clients["a"].get("object") == winner.encode()


def state_files(exchanges: Collection[Exchange]) -> dict[str, list[Exchange]]:
    """Return the changing requests for each object of the timeline folder."""
    found: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        place = exchange.request.place
        if TIMELINE in place and exchange.changed and "/history/" not in place:
            found.setdefault(place, []).append(exchange)
    return found


@BOTH_TYPES
@pytest.mark.needs("service.clean", "service.archive")
@pytest.mark.requirements("S3-006", "S3-001")
def test_each_state_is_one_request(engine: Client, object_store: ObjectStore, type: str) -> None:
    """S3-006: writes and services publish each state by one conditional PUT, under its final name and with its final content:
    no copy, no multipart upload, no later change, and no other file in the folder.
    """
    only_in_process(engine)
    program = Program(type, "EVENT_TIME_ORDERING", False)  # type: ignore[arg-type]
    table, clock = object_store.create_table(program, FIRST)

    def work() -> None:
        for number in range(2, 5):
            opened = object_store.open_table("writer", table, clock)
            opened.upsert(as_arrow([row("a", number, f"value {number}")]))
        clean(object_store.open_table("writer", table, clock, {**LOCKED, "hoodie.clean.commits.retained": "1"}))

    found = run_processes(object_store.proxy, {"writer": work})
    assert found.results["writer"].how == "returned", found.results["writer"]
    states = state_files(found.exchanges)
    assert len(states) >= 9
    for place, changes in states.items():
        name = place.rpartition("/")[2]
        assert re.fullmatch(r"\d{17}(_\d{17})?\.[a-z]+(\.(requested|inflight))?", name), name
        assert [change.request.kind for change in changes] == ["create"], f"{name}: {[str(c) for c in changes]}"
        last = object_store.storage("suite", table).get(place.partition("/")[2])
        assert changes[0].request.body == last, f"{name} has another content than it was created with"


FAULTY: Mapping[str, tuple[type[StorageFault], ...]] = {
    "answer-403": (AccessDenied,),
    "answer-503": (StorageUnavailable, OutcomeUnknown),
    "lose-request": (StorageUnavailable, OutcomeUnknown),
}


@pytest.mark.parametrize("fault", FAULTY)
@pytest.mark.parametrize("kind", ["get", "list", "create"])
@pytest.mark.requirements("S3-006")
def test_a_store_that_refuses_every_request_is_an_error(
    engine: Client, object_store: ObjectStore, fault: str, kind: str
) -> None:
    """S3-006: wrong credentials, and a store that delays every request, are typed errors of the write; the table is
    unchanged.
    """
    only_in_process(engine)
    table, clock = object_store.create_table(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", False), FIRST)
    write = object_store.upsert("writer", table, clock, [row("a", 2, "second")])

    def fault_of(request: Request) -> str | None:
        return fault if request.kind == kind and (kind != "create" or TIMELINE in request.place) else None

    found = run_processes(object_store.proxy, {"writer": write}, fault_of=fault_of)
    assert isinstance(find_error(found, "writer"), FAULTY[fault]), found.results["writer"]
    assert sum(bool(exchange.fault) for exchange in found.exchanges) <= 6, "the writer did not stop retrying"
    assert object_store.values(table) == {"a": "first", "b": "first"}
    object_store.upsert("writer", table, clock, [row("a", 3, "third")])()
    assert object_store.values(table) == {"a": "third", "b": "first"}


@pytest.mark.requirements("S3-002")
def test_a_store_without_conditional_writes_is_refused(engine: Client, object_store: ObjectStore) -> None:
    """S3-002: if a store carries out requests whose conditions fail, writers report it before they change anything; readers are
    not affected.
    """
    only_in_process(engine)
    table, clock = object_store.create_table(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", False), FIRST)
    before = [info.path for info in object_store.storage("suite", table).list()]
    write = object_store.upsert("writer", table, clock, [row("a", 2, "second")])
    found = run_processes(object_store.proxy, {"writer": write}, fault_of=lambda request: "ignore-condition")
    assert isinstance(find_error(found, "writer"), UnfitStorage), found.results["writer"]
    assert [info.path for info in object_store.storage("suite", table).list()] == before
    assert object_store.values(table) == {"a": "first", "b": "first"}


@BOTH_TYPES
@pytest.mark.requirements("S3-001")
def test_a_write_is_atomic_if_the_store_becomes_unreachable(engine: Client, object_store: ObjectStore, type: str) -> None:
    """S3-001: the connection breaks permanently before a request of a write, or after it: the error is typed, and the table has
    the rows of before or after, and those of after if the write reported success; the next writer succeeds.
    """
    only_in_process(engine)
    program = Program(type, "EVENT_TIME_ORDERING", False)  # type: ignore[arg-type]
    table, clock = object_store.create_table(program, FIRST)
    number, value = 2, "first"
    for place, fault in [(place, fault) for place in range(14, 42, 6) for fault in ("crash-before", "crash-after")]:
        write = object_store.upsert("writer", table, clock, [row("a", number, f"value {number}")])
        found = run_processes(
            object_store.proxy, {"writer": write}, InOrder(["writer"], ["writer"] * place + [Choice("writer", fault)])
        )
        ended = found.results["writer"]
        assert ended.how == "returned" or isinstance(ended.error, StorageFault), ended
        now = object_store.values(table)["a"]
        assert now in ((f"value {number}",) if ended.how == "returned" else (f"value {number}", value)), f"{place} {fault}"
        number, value = number + 1, now
    clock.sleep(6 * 60_000)  # the lease of the crashed writer has expired: before that, other writers only retry
    object_store.upsert("writer", table, clock, [row("a", number, "last")])()
    assert object_store.values(table) == {"a": "last", "b": "first"}
