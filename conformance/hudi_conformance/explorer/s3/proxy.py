"""A proxy in front of an object store that forwards one request at a time, in the order of a scheduler, and records all.

The store therefore serves requests sequentially. The proxy also injects faults of the network: an answer may be delayed, cut,
replaced or lost.
"""

import asyncio
import re
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from hudi_conformance.explorer.s3.http_messages import Answer, Request, error_answer, forward_request, read_request
from hudi_conformance.explorer.s3.scheduling import FirstComeFirstServed, Scheduler
from hudi_conformance.explorer.simulation.runs import Choice

#: Faults of a request: the process crashes before or after it; the request or its answer is lost; it is refused, or executed
#: and then reported as failed; the answer is cut; there is no answer, though the connection stays open; the answer is delayed
#: by so many milliseconds; its condition is ignored; the process waits until the others have ended.
FAULTS = (
    "crash-before", "crash-after", "lose-request", "lose-answer", "answer-403", "answer-409", "answer-412", "answer-500",
    "answer-503", "apply-answer-500", "apply-answer-503", "cut-body", "time-out", "apply-time-out", "delay-100",
    "ignore-condition", "stall",
)  # fmt: skip
_MADE_UP = re.compile(r"(apply-)?answer-(\d{3})")
_DELAY = re.compile(r"delay-(\d+)")
#: The fault of a request, if the scheduler names none.
FaultOf = Callable[[Request], str | None]
#: Seconds after which a client that sends no request is assumed to wait for another client.
PATIENCE = 20.0


@dataclass(frozen=True)
class Exchange:
    """One request, its fault, the answer of the store, and the status that the client got. Times in seconds."""

    number: int
    request: Request
    fault: str | None
    answer: Answer | None
    reported: int | None
    came: float
    admitted: float
    ended: float
    in_store: float
    in_flight: int

    @property
    def client(self) -> str:
        """The process that sent it."""
        return self.request.client

    @property
    def changed(self) -> bool:
        """Whether it changed the store."""
        return self.request.kind not in ("get", "head", "list") and self.answer is not None and self.answer.status < 300

    def __str__(self) -> str:
        reported = "no answer" if self.reported is None else str(self.reported)
        fault = f" [{self.fault}]" if self.fault else ""
        return f"{self.client}: {self.request.kind} {self.request.place} -> {reported}{fault}"


@dataclass
class _Parked:
    """A waiting request and its connection."""

    request: Request
    writer: asyncio.StreamWriter
    came: float
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Proxy:
    """The proxy, in its own thread. Without a scheduler it forwards requests as they arrive, still one at a time.

    With `ignores_conditions` the store behaves like one without conditional writes.
    """

    def __init__(self, host: str, port: int, *, patience: float = PATIENCE, ignores_conditions: bool = False) -> None:
        self.exchanges: list[Exchange] = []
        self.ignores_conditions = ignores_conditions
        #: Seconds of processor time of the proxy itself.
        self.busy = 0.0
        self._upstream, self._patience = (host, port), patience
        self._scheduler: Scheduler = FirstComeFirstServed()
        self._fault_of: FaultOf = lambda request: None
        self._connections: set[asyncio.StreamWriter] = set()
        self._parked: list[_Parked] = []
        self._ended: set[str] = set()
        self._crashed: set[str] = set()
        self._started = time.monotonic()
        self._store: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._loop = asyncio.new_event_loop()
        self._news = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()
        self._server = self._do(self._listen())
        self._dispatcher = self._do(self._begin())

    @property
    def endpoint(self) -> str:
        """The URL that clients use instead of that of the store."""
        port: int = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    def set_scheduler(self, scheduler: Scheduler, fault_of: FaultOf = lambda request: None) -> None:
        """Use this scheduler from now on; clear the record and the crashed processes."""

        async def change() -> None:
            self._scheduler, self._fault_of = scheduler, fault_of
            self.exchanges = []
            self._ended, self._crashed = set(), set()
            self._news.set()

        self._do(change())

    def end_client(self, client: str) -> None:
        """State that the process sends no more requests."""

        async def note() -> None:
            self._ended.add(client)
            self._news.set()

        self._do(note())

    def stop(self) -> None:
        """Stop the proxy; waiting requests get no answer."""

        async def close() -> None:
            self._dispatcher.cancel()
            self._server.close()
            for writer in self._connections:
                writer.transport.abort()
            if self._store is not None:
                self._store[1].transport.abort()
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await asyncio.sleep(0)  # the loop closes what was aborted

        self._do(close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        """The proxy."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop the proxy."""
        self.stop()

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _now(self) -> float:
        return time.monotonic() - self._started

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._connection, "127.0.0.1", 0)

    async def _begin(self) -> "asyncio.Task[None]":
        return asyncio.create_task(self._dispatch())

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Queue the requests of one connection, one after the other."""
        self._connections.add(writer)
        with suppress(ConnectionError, asyncio.CancelledError):
            while (request := await read_request(reader, writer)) is not None:
                parked = _Parked(request, writer, self._now())
                self._parked.append(parked)
                self._news.set()
                await parked.done.wait()
                if writer.transport.is_closing():
                    break
                await writer.drain()
        writer.transport.abort()
        self._connections.discard(writer)

    async def _dispatch(self) -> None:
        """Serve the requests that the scheduler chooses, one at a time."""
        while True:
            overdue = False
            try:
                async with asyncio.timeout(self._patience):  # `wait_for` of Python 3.11 can lose a cancellation
                    await self._news.wait()
            except TimeoutError:
                overdue = True
            self._news.clear()
            while (choice := self._next(overdue)) is not None:
                overdue = False
                await self._serve(choice)
                self.busy = time.thread_time()

    def _next(self, overdue: bool) -> Choice | None:
        waiting: dict[str, list[Request]] = {}
        for parked in self._parked:
            waiting.setdefault(parked.request.client, []).append(parked.request)
        return self._scheduler.next_choice(waiting, self._ended, overdue=overdue)

    async def _serve(self, choice: Choice) -> None:
        parked = next(parked for parked in self._parked if parked.request.client == choice.process)
        in_flight = sum(other.request.client == choice.process for other in self._parked)
        self._parked.remove(parked)
        fault = "crashed" if choice.process in self._crashed else choice.fault or self._fault_of(parked.request)
        admitted = self._now()
        answer, in_store = None, 0.0
        if _has_effect(fault):
            bare = self.ignores_conditions or fault == "ignore-condition"
            with suppress(OSError):  # the store has stopped: there is no answer
                answer = await self._ask(parked.request.without_conditions() if bare else parked.request)
            in_store = self._now() - admitted
        reported = await self._answer_client(parked, fault, answer)
        number = len(self.exchanges) + 1
        times = (parked.came, admitted, self._now(), in_store)
        self.exchanges.append(Exchange(number, parked.request, fault, answer, reported, *times, in_flight))

    async def _ask(self, request: Request) -> Answer:
        """The answer of the store, on one connection that is reopened if the store has closed it."""
        while True:
            is_new = self._store is None
            if self._store is None:
                self._store = await asyncio.open_connection(*self._upstream, limit=1 << 20)
            try:
                answer = await forward_request(*self._store, request)
            except ConnectionError:
                self._hang_up()
                if is_new:
                    raise
                continue
            if answer.headers.get("connection", "").lower() == "close":
                self._hang_up()
            return answer

    def _hang_up(self) -> None:
        assert self._store is not None
        self._store[1].close()
        self._store = None

    async def _answer_client(self, parked: _Parked, fault: str | None, answer: Answer | None) -> int | None:
        """Send the answer, changed by the fault, to the client; the status that it gets, None without an answer."""
        if fault in ("crash-before", "crash-after"):
            self._crashed.add(parked.request.client)
        if fault in ("time-out", "apply-time-out"):
            return None  # the connection stays open
        if delay := _DELAY.fullmatch(fault or ""):
            await asyncio.sleep(int(delay[1]) / 1000)
        if made_up := _MADE_UP.fullmatch(fault or ""):
            answer = error_answer(int(made_up[2]))
        if answer is None or fault in ("crash-after", "lose-answer"):
            parked.writer.transport.abort()
            parked.done.set()
            return None
        encoded = answer.encode(parked.request.method)
        if fault == "cut-body":
            parked.writer.write(encoded[: len(encoded) - (len(answer.body) + 1) // 2 - 1])
            parked.writer.close()
        else:
            parked.writer.write(encoded)
        parked.done.set()
        return answer.status


def _has_effect(fault: str | None) -> bool:
    """Whether a request with this fault reaches the store."""
    return not (fault in ("crashed", "crash-before", "lose-request", "time-out") or (fault or "").startswith("answer-"))
