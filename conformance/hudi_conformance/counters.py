"""What a test tries, counted where it is tried: orders, crashes, requests. The plugin puts it into the test's result."""

from collections import Counter

#: What is counted, for people, in the order of reports.
MEANINGS = {
    "programs": "programs explored in every order within their bounds",
    "orders": "orders of requests that were followed to the end",
    "drawn": "orders among them that were drawn",
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
    """More of what was tried; the names are those of `MEANINGS`."""
    _found.update({name: int(number) for name, number in found.items() if number})


def taken() -> dict[str, int]:
    """What was tried since this was asked last."""
    found = {name: _found[name] for name in MEANINGS if _found[name]}
    _found.clear()
    return found
