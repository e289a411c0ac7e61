"""Check what writers need of an object store: races have one winner, writes are visible, deletes can be repeated.

    verdicts = examine_store(endpoint, bucket)

A store that checks a condition and then writes breaks its promise if another client writes in between. One broken round proves
a defect; many rounds without one are only evidence.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from hudi_conformance.processes.object_store import REGION

#: A race is this many clients at once.
RACERS = 16
#: Objects of an upload in parts are at least so large, in bytes.
PART = 5 << 20


@dataclass(frozen=True)
class Verdict:
    """The result of one check."""

    name: str
    promise: str
    kept: bool
    found: str

    def __str__(self) -> str:
        return f"{'kept  ' if self.kept else 'BROKEN'} {self.name}: {self.found}"


@dataclass(frozen=True)
class Place:
    """An empty prefix of a bucket, and how to access it."""

    endpoint: str
    bucket: str
    prefix: str
    rounds: int
    options: dict[str, Any]

    def client(self, name: str) -> Any:
        """A new client that sends each request once."""
        from obstore.store import S3Store

        keys = {"access_key_id": name, "secret_access_key": "secret", "region": REGION} | self.options
        where = {"endpoint": self.endpoint, "virtual_hosted_style_request": False, "prefix": self.prefix}
        return S3Store(self.bucket, client_options={"allow_http": True}, retry_config={"max_retries": 0}, **where, **keys)


def examine_store(endpoint: str, bucket: str, *, rounds: int = 10, **options: Any) -> tuple[Verdict, ...]:
    """All verdicts on the store at `endpoint`. `options` are keys and region for obstore, if made-up ones are not accepted."""
    verdicts = []
    for name, (promise, check) in CHECKS.items():
        place = Place(endpoint, bucket, f"conformance-{uuid4().hex}", rounds, options)
        try:
            found = check(place)
        except Exception as error:  # any error of the store is a broken promise
            found = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        verdicts.append(Verdict(name, promise, found is None, found or "as promised"))
        with suppress(Exception):
            _clean_up(place)
    return tuple(verdicts)


def _clean_up(place: Place) -> None:
    import obstore

    client = place.client("suite")
    for meta in _list(client):
        obstore.delete(client, meta)


def _list(client: Any) -> list[str]:
    import obstore

    return sorted(meta["path"] for page in obstore.list(client) for meta in page)


Attempt = Callable[[Any, str, bytes], object]


def _race(place: Place, before: Callable[[Any, str], Attempt]) -> str | None:
    """Rounds in which all clients try the same at once; `before` prepares the key of a round and returns the attempt."""
    clients = [place.client(f"racer-{number}") for number in range(RACERS)]
    broken, most = 0, 1
    with ThreadPoolExecutor(RACERS) as pool:
        for turn in range(place.rounds):
            key = f"race-{turn}"
            attempt, start = before(clients[0], key), threading.Barrier(RACERS)
            tries = [pool.submit(_try, start, attempt, client, key, b"%d " % n * 50) for n, client in enumerate(clients)]
            winners = [content for one in tries if (content := one.result()) is not None]
            broken += winners != [_content(clients[0], key)]
            most = max(most, len(winners))
    return f"{broken} of {place.rounds} races had not one winner but up to {most}" if broken else None


def _try(start: threading.Barrier, attempt: Attempt, client: Any, key: str, content: bytes) -> bytes | None:
    """The content, if the client got a success."""
    from obstore.exceptions import BaseError

    start.wait()
    try:
        attempt(client, key, content)
    except BaseError:
        return None
    return content


def _content(client: Any, key: str) -> bytes:
    import obstore

    return bytes(obstore.get(client, key).bytes())


def _creation(place: Place) -> str | None:
    import obstore

    def create(client: Any, key: str, content: bytes) -> None:
        obstore.put(client, key, content, mode="create")

    return _race(place, lambda client, key: create)


def _replacement(place: Place) -> str | None:
    import obstore

    def prepared(client: Any, key: str) -> Attempt:
        version = obstore.put(client, key, b"before")["e_tag"]
        return lambda client, key, content: obstore.put(client, key, content, mode={"e_tag": version})

    return _race(place, prepared)


def _listing(place: Place) -> str | None:
    import obstore

    writer, reader, expected = place.client("writer"), place.client("reader"), []
    for number in range(5):
        obstore.put(writer, f"folder/{number}", b"x")
        expected.append(f"folder/{number}")
        if (found := _list(reader)) != expected:
            return f"after {number + 1} writes a listing shows {found}"
    obstore.delete(writer, expected.pop(2))
    found = _list(reader)
    return None if found == expected else f"after a delete a listing shows {found}"


def _ranges(place: Place) -> str | None:
    import obstore

    client = place.client("reader")
    obstore.put(client, "digits", b"0123456789")
    for start, end in ((0, 1), (3, 7), (9, 10), (0, 10)):
        found = bytes(obstore.get_range(client, "digits", start=start, end=end))
        if found != b"0123456789"[start:end]:
            return f"bytes {start} to {end} of 0123456789 are {found!r}"
    return None


def _parts(place: Place) -> str | None:
    import obstore

    writer, reader = place.client("writer"), place.client("reader")
    with obstore.open_writer(writer, "large", buffer_size=PART, max_concurrency=1) as upload:
        upload.write(b"a" * PART)
        upload.write(b"b" * PART)
        if found := _list(reader):
            return f"an upload that is not complete is listed: {found}"
    found_bytes = _content(reader, "large")
    return None if found_bytes == b"a" * PART + b"b" * PART else f"{len(found_bytes)} bytes of {2 * PART}, or others"


def _deletion(place: Place) -> str | None:
    import obstore

    client = place.client("writer")
    obstore.put(client, "gone", b"x")
    for _ in range(2):
        with suppress(FileNotFoundError):
            obstore.delete(client, "gone")
    obstore.put(client, "gone", b"y", mode="create")
    return None if _content(client, "gone") == b"y" else "the deleted object is there again"


#: Name -> promise, and the check that returns how it is broken, None if it is kept.
CHECKS: dict[str, tuple[str, Callable[[Place], str | None]]] = {
    "create if absent": ("if several clients create one object at once, exactly one succeeds, and its bytes are stored",
                         _creation),
    "compare and swap": ("if several clients replace one version at once, exactly one succeeds, and its bytes are stored",
                         _replacement),
    "list after put": ("a listing contains the objects that were written before, and no deleted ones", _listing),
    "range reads": ("a range read returns the range", _ranges),
    "upload in parts": ("an object written in parts is invisible before the last step, and complete after it", _parts),
    "delete again": ("a repeated delete has no effect, and the name can be created again", _deletion),
}  # fmt: skip
