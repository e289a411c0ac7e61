"""The proxy in front of an object store, with a minimal store: order, faults, records."""

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hudi_conformance.explorer.s3.diagram import Drawing
from hudi_conformance.explorer.s3.proxy import Proxy
from hudi_conformance.explorer.s3.run import run_processes
from hudi_conformance.explorer.s3.saved_schedules import find_departure, schedule_of_run
from hudi_conformance.explorer.s3.scheduling import AtRandom, InOrder, Overtaken
from hudi_conformance.explorer.simulation.runs import Choice
from hudi_conformance.explorer.simulation.schedule_file import SavedSchedule, read_schedule, write_into_folder


class Echo(BaseHTTPRequestHandler):
    """Answers with the path and remembers it; records whether two requests overlap."""

    protocol_version = "HTTP/1.1"
    inside, most, seen = 0, 0, []

    def do_GET(self):
        type(self).inside += 1
        type(self).most = max(type(self).most, type(self).inside)
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        type(self).seen.append(self.path)
        body = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        type(self).inside -= 1
        if self.command != "HEAD":
            self.wfile.write(body)

    do_PUT = do_HEAD = do_GET  # noqa: N815  names of the library

    def log_message(self, *words):
        pass


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    Echo.inside, Echo.most, Echo.seen = 0, 0, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    with Proxy("127.0.0.1", server.server_port, patience=0.3) as found:
        yield found
    server.shutdown()
    server.server_close()


def ask(proxy: Proxy, client: str, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    host, port = proxy.endpoint.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=5)
    credential = f"AWS4-HMAC-SHA256 Credential={client}/20250101/us-east-1/s3/aws4_request, SignedHeaders=host"
    try:
        connection.request(method, path, headers={"Authorization": credential, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def asking(proxy: Proxy, client: str, count: int = 3):
    def program():
        return [ask(proxy, client, f"/bucket/{client}-{number}")[0] for number in range(count)]

    return program


def test_the_store_gets_requests_in_the_order_of_the_schedule(proxy: Proxy) -> None:
    """The store gets the requests in the order of the schedule, then those of each process in turn."""
    found = run_processes(proxy, {"a": asking(proxy, "a"), "b": asking(proxy, "b")}, InOrder(("a", "b"), ["b", "a", "b"]))
    assert Echo.seen == ["/bucket/b-0", "/bucket/a-0", "/bucket/b-1", "/bucket/a-1", "/bucket/a-2", "/bucket/b-2"]
    assert [ended.value for ended in found.results.values()] == [[200] * 3] * 2
    assert found.best_effort == ()
    assert found.schedule == tuple(Choice(name) for name in "babaab")


def test_random_order_depends_on_the_seed_only(proxy: Proxy) -> None:
    """The same seed gives the same order, another seed another one; the order can be replayed."""
    orders = []
    for seed in (1, 1, 2):
        Echo.seen = []
        found = run_processes(proxy, {"a": asking(proxy, "a", 8), "b": asking(proxy, "b", 8)}, AtRandom(("a", "b"), seed))
        orders.append(list(Echo.seen))
    assert orders[0] == orders[1] != orders[2]
    Echo.seen = []
    run_processes(proxy, {"a": asking(proxy, "a", 8), "b": asking(proxy, "b", 8)}, InOrder(("a", "b"), found.schedule))
    assert Echo.seen == orders[2]


@pytest.mark.parametrize("turns", range(4))
def test_the_proxy_stops_while_a_request_arrives(turns: int) -> None:
    """The dispatcher ends if it is cancelled some turns of the event loop after it was notified of a request."""
    proxy = Proxy("127.0.0.1", 1, patience=60)

    async def cancelled() -> bool:
        proxy._news.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        proxy._dispatcher.cancel()
        await asyncio.wait([proxy._dispatcher], timeout=5)
        return proxy._dispatcher.done()

    assert proxy._do(cancelled())
    proxy.stop()


def test_the_store_serves_one_request_at_a_time(proxy: Proxy) -> None:
    """The store never gets two requests at once, however many clients send them."""
    threads = [threading.Thread(target=asking(proxy, f"client-{number}", 5)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(Echo.seen), Echo.most) == (40, 1)


@pytest.mark.parametrize(
    ("fault", "reaches", "reported"),
    [
        ("answer-503", False, 503),
        ("answer-412", False, 412),
        ("apply-answer-500", True, 500),
        ("lose-request", False, None),
        ("lose-answer", True, None),
        ("crash-before", False, None),
        ("crash-after", True, None),
        ("cut-body", True, None),
        ("delay-20", True, 200),
    ],
)
def test_each_fault_has_its_effect(proxy: Proxy, fault: str, reaches: bool, reported: int | None) -> None:
    """Whether the request reaches the store, and the status that the client gets."""

    def program():
        try:
            return ask(proxy, "a", "/bucket/object")[0]
        except (http.client.HTTPException, ConnectionError):
            return None

    found = run_processes(proxy, {"a": program}, InOrder(("a",), [Choice("a", fault)]))
    assert found.results["a"].value == reported
    assert (Echo.seen == ["/bucket/object"]) is reaches
    assert found.exchanges[0].fault == fault


def test_a_crashed_process_does_not_reach_the_store(proxy: Proxy) -> None:
    """After its crash no request of a process has an effect; in the next run it is active again."""

    def program():
        for number in range(3):
            with suppress(http.client.HTTPException, ConnectionError):
                ask(proxy, "a", f"/bucket/{number}")

    run_processes(proxy, {"a": program}, InOrder(("a",), ["a", Choice("a", "crash-before")]))
    assert Echo.seen == ["/bucket/0"]
    run_processes(proxy, {"a": program})
    assert len(Echo.seen) == 4


def test_a_stalled_process_continues_after_the_others(proxy: Proxy) -> None:
    """A stalled process waits until the others have ended."""
    schedule = ["a", Choice("a", "stall"), "b"]
    run_processes(proxy, {"a": asking(proxy, "a"), "b": asking(proxy, "b")}, InOrder(("a", "b"), schedule))
    assert Echo.seen == [f"/bucket/{name}" for name in ("a-0", "b-0", "b-1", "b-2", "a-1", "a-2")]


def test_a_slow_process_is_overtaken(proxy: Proxy) -> None:
    """The quick process runs from start to end during the slow one."""
    scheduler = Overtaken("a", "b", lambda: len(proxy.exchanges) >= 2)
    run_processes(proxy, {"a": asking(proxy, "a"), "b": asking(proxy, "b")}, scheduler)
    assert Echo.seen == [f"/bucket/{name}" for name in ("a-0", "a-1", "b-0", "b-1", "b-2", "a-2")]


def test_departures_from_a_schedule_are_reported(proxy: Proxy) -> None:
    """If the next process sends no request, the others continue, and the run is marked as best effort."""
    found = run_processes(
        proxy, {"a": asking(proxy, "a", 1), "b": asking(proxy, "b", 2)}, InOrder(("a", "b"), ["a", "a", "a", "b"])
    )
    assert found.results["b"].value == [200, 200]
    assert found.best_effort


def test_a_run_is_drawn(proxy: Proxy) -> None:
    """The diagram has a column for each process, its faults, and how it ended."""
    found = run_processes(
        proxy, {"a": asking(proxy, "a"), "b": asking(proxy, "b", 1)}, InOrder(("a", "b"), [Choice("b", "delay-1")])
    )
    drawn = Drawing.from_run(found, "two clients").text()
    assert "1-3" not in drawn
    assert "get b-0 → 200  ✕ delay-1" in drawn
    assert "… 3 reads" in drawn
    assert "a: returned [200, 200, 200]" in drawn


def test_a_run_is_saved_and_replayed(proxy: Proxy, tmp_path: Path) -> None:
    """The file has every request and fault; a replay sends the same requests, and a difference is reported with its turn."""
    scheduler = InOrder(("a", "b"), [Choice("b", "delay-1"), "a", Choice("a", "lose-answer")])
    found = run_processes(proxy, {"a": suppressed(asking(proxy, "a", 2)), "b": asking(proxy, "b", 1)}, scheduler)
    path = write_into_folder(schedule_of_run("two clients", found, ("one", "other")), tmp_path)
    saved = read_schedule(path)
    assert (saved.engines, saved.store, saved.requests) == (("one", "other"), "s3", ("get b-0", "get a-0", "get a-1"))
    again = run_processes(
        proxy, {"a": suppressed(asking(proxy, "a", 2)), "b": asking(proxy, "b", 1)}, InOrder(("a", "b"), saved.schedule)
    )
    assert find_departure(saved, again) is None
    other = run_processes(
        proxy, {"a": suppressed(asking(proxy, "a", 2)), "b": lambda: ask(proxy, "b", "/bucket/other")}, turns_of(saved)
    )
    assert "the schedule has get" in (find_departure(saved, other) or "")


def turns_of(saved: SavedSchedule) -> InOrder:
    return InOrder(saved.processes, saved.schedule)


def suppressed(program):
    def act():
        with suppress(http.client.HTTPException, ConnectionError):
            program()

    return act


def test_a_diagram_is_stored_as_json_and_written_in_each_format(proxy: Proxy, tmp_path: Path) -> None:
    """SVG with a line for each process, an HTML page, and text."""
    found = run_processes(
        proxy, {"a": asking(proxy, "a"), "b": asking(proxy, "b", 1)}, InOrder(("a", "b"), [Choice("b", "answer-503")])
    )
    drawing = Drawing.from_run(found, "two <clients>")
    assert Drawing.from_json(json.loads(json.dumps(drawing.to_json()))) == drawing
    for name in ("d.svg", "d.html", "d.txt"):
        drawing.write(tmp_path / name)
    picture = ElementTree.fromstring((tmp_path / "d.svg").read_text())
    assert "get b-0 → 503  ✕ answer-503" in ["".join(text.itertext()) for text in picture.iter() if text.tag.endswith("text")]
    assert "two &lt;clients&gt;" in (tmp_path / "d.html").read_text()
    assert (tmp_path / "d.txt").read_text() == drawing.text()
