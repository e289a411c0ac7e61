"""A run through the gate as a sequence diagram in words: a column for each process, a line for each request."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from hudi_conformance.schedule.s3.gate import Exchange
from hudi_conformance.schedule.s3.run import Run

#: So many requests in a row of one process that only look become one line.
FEW = 3
_INSTANT = re.compile(r"(?<!\d)\d{17}(?!\d)")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-\d+)?")
_PROBE = re.compile(r"probe-[0-9a-f]{32}")


class Names:
    """Short names for times and file ids, in the order in which a run shows them, so that lines stay short."""

    def __init__(self) -> None:
        self.legend: dict[str, str] = {}

    def shortened(self, place: str) -> str:
        """The path within the table, with short names."""
        place = _PROBE.sub("probe", place)
        for pattern, letter in ((_ID, "file"), (_INSTANT, "t")):
            place = pattern.sub(partial(self._name, letter), place)
        return place

    def _name(self, letter: str, match: re.Match[str]) -> str:
        long = match[0]
        if long not in self.legend:
            count = sum(name.rstrip("0123456789") == letter for name in self.legend.values())
            self.legend[long] = f"{letter}{count + 1}"
        return self.legend[long]


def text(run: Run, title: str) -> str:
    """The diagram: what was asked, what was told, and what befell it."""
    processes, names = list(run.results), Names()
    lines = list(_lines(run.exchanges, processes, names))
    width = {name: max([len(name), *(len(what) for _, who, what in lines if who == name)]) for name in processes}
    head = f"{'request':>9}  " + "  ".join(name.ljust(width[name]) for name in processes)
    body = [
        f"{numbers:>9}  " + "  ".join((what if who == name else "").ljust(width[name]) for name in processes)
        for numbers, who, what in lines
    ]
    ends = [f"{name}: {_end(run, name)}" for name in processes]
    legend = [f"{short} = {long}" for long, short in names.legend.items()]
    effort = ["", "best effort, for:", *run.best_effort] if run.best_effort else []
    parts = [title, "", head, "-" * len(head), *(line.rstrip() for line in body), "", *ends, "", *legend, *effort]
    return "\n".join(parts) + "\n"


def _lines(exchanges: Sequence[Exchange], processes: Sequence[str], names: Names) -> Iterator[tuple[str, str, str]]:
    """Numbers, process and words of each line."""
    known = [exchange for exchange in exchanges if exchange.client in processes]
    for (process, is_quiet), group in groupby(known, key=lambda e: (e.client, _is_quiet(e))):
        found = list(group)
        if is_quiet and len(found) >= FEW:
            yield f"{found[0].number}-{found[-1].number}", process, f"… {len(found)} that only look"
        else:
            yield from ((str(one.number), process, _words(one, names)) for one in found)


def _is_quiet(exchange: Exchange) -> bool:
    return not exchange.changed and exchange.fault is None and exchange.told in (200, 206, 404, 304)


def _words(exchange: Exchange, names: Names) -> str:
    request = exchange.request
    place = names.shortened(request.place.partition("/")[2] or request.place)
    told = "no answer" if exchange.told is None else str(exchange.told)
    fault = f"  ✕ {exchange.fault}" if exchange.fault else ""
    return f"{request.kind} {place} → {told}{fault}"


def _end(run: Run, name: str) -> str:
    ended = run.results[name]
    if ended.error is None:
        return f"{ended.how} {ended.value}"
    return f"{ended.how} {type(ended.error).__name__}: {str(ended.error).partition(chr(10))[0]}"
