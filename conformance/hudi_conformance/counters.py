"""Counters of what tests do: interleavings, crashes, requests. The plugin adds them to the result of the test that counted."""

from collections import Counter

#: The counters and their meanings, in the order of reports.
MEANINGS = {
    "programs": "programs whose interleavings were all explored, within their bounds",
    "orders": "interleavings of requests that were run to the end",
    "drawn": "random interleavings among them",
    "steps": "requests and clock readings in these",
    "crashes": "crashes of a process at one of them",
    "crash_points": "crash points: a crash after each change in turn, and a check of the table",
    "s3_runs": "runs of two processes on an object store, through the proxy",
    "s3_requests": "requests in these",
    "s3_faults": "requests that were lost, refused, delayed or not answered",
    "s3_milliseconds": "milliseconds that these took",
    "s3_proxy_milliseconds": "milliseconds of processor time of the proxy in these",
}
_found: Counter[str] = Counter()


def count(**found: int) -> None:
    """Add to counters; the names are those of `MEANINGS`."""
    _found.update({name: int(number) for name, number in found.items() if number})


def taken() -> dict[str, int]:
    """The counters since the last call; they are reset."""
    found = {name: _found[name] for name in MEANINGS if _found[name]}
    _found.clear()
    return found
