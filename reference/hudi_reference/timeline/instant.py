"""Instants and the names of their files, spec "Timeline > States".

    requested   <requested time>.<action>.requested
    inflight    <requested time>.<action>.inflight          (a commit: <requested time>.inflight)
    completed   <requested time>_<completion time>.<action>

Times are texts of digits and compared as texts, whatever clock they come from.
"""

import re
from dataclasses import dataclass

from hudi_reference.errors import MalformedInstantName
from hudi_reference.requirement import implements
from hudi_reference.timeline.states import ACTIONS, EXTENSIONS, State

_NAME = re.compile(r"(?P<requested>\d+)(?:_(?P<completion>\d+))?\.(?P<extension>[a-z]+(?:\.[a-z]+)?)", re.ASCII)
#: Seconds (releases before milliseconds came) or milliseconds.
_TIME_LENGTHS = (14, 17)


@implements("TL-004", "TL-025", "TL-034", "TT-001")
@dataclass(frozen=True)
class Instant:
    """One action in one state. `completion` is set exactly in state COMPLETED."""

    requested: str
    action: str
    state: State
    completion: str | None = None

    @property
    def identity(self) -> tuple[str, str]:
        """What all states of one action have in common, a compaction and the commit as which it completes among them."""
        return (self.requested, ACTIONS[self.action].completes_as)

    @property
    def file_name(self) -> str:
        """The name of the instant's file in the timeline folder."""
        match self.state:
            case State.REQUESTED:
                return f"{self.requested}.{self.action}.requested"
            case State.INFLIGHT:
                return f"{self.requested}.{ACTIONS[self.action].inflight}"
            case State.COMPLETED:
                return f"{self.requested}_{self.completion}.{ACTIONS[self.action].completes_as}"


@implements("TL-027", "TL-028", "TL-031", "TL-037")
def parse_instant_name(name: str) -> Instant | None:
    """The instant that a file name of the timeline folder stands for; None for a foreign file.

    A name claims to be an instant when it is digits, maybe a second group of digits, and the extension of a known action.
    Raises MalformedInstantName when such a name has times of a wrong length or a completion time where none belongs.
    """
    match = _NAME.fullmatch(name)
    if match is None or match["extension"] not in EXTENSIONS:
        return None
    action, state = EXTENSIONS[match["extension"]]
    requested, completion = match["requested"], match["completion"]
    _check_time(name, "requested", requested, "TL-027" if state < State.COMPLETED else "TL-031")
    if state is not State.COMPLETED:
        if completion is not None:
            raise _malformed(name, "TL-028", "one time before a pending state", f"{requested} and {completion}")
        return Instant(requested, action, state)
    if completion is None:
        raise _malformed(name, "TL-031", "<requested time>_<completion time>.<action>", "no completion time")
    _check_time(name, "completion", completion, "TL-031")
    if completion <= requested and len(completion) == len(requested):
        raise _malformed(name, "TL-004", "a completion time after the requested time", f"{completion} <= {requested}")
    return Instant(requested, action, state, completion)


def _check_time(name: str, which: str, time: str, rule: str) -> None:
    if len(time) not in _TIME_LENGTHS:
        raise _malformed(name, rule, f"a {which} time of 17 digits (yyyyMMddHHmmssSSS)", f"{len(time)} digits")


def _malformed(name: str, rule: str, expected: str, found: str) -> MalformedInstantName:
    return MalformedInstantName(
        "not the name of an instant",
        rule=rule,
        path=name,
        expected=expected,
        found=found,
        cure="remove the file if it is foreign; no release writes such a name",
    )
