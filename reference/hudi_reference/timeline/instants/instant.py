"""Instants and the names of their files, spec "Timeline > States".

    requested   <requested time>.<action>.requested
    inflight    <requested time>.<action>.inflight          (a commit: <requested time>.inflight)
    completed   <requested time>_<completion time>.<action>

Times are strings of digits, compared as strings, because different clocks may have produced them.
"""

from dataclasses import dataclass

from hudi_reference.errors import MalformedInstantName
from hudi_reference.requirement import implements
from hudi_reference.timeline.instants.states import ACTIONS, EXTENSIONS, State

#: Old releases have seconds (14 digits), others milliseconds (17 digits).
_TIME_LENGTHS = (14, 17)
#: ER-214: a metadata table of version 6 appended three digits to the time of a write for the builds that it began with it, and
#: Apache Hudi keeps such times in an upgrade.
_REQUESTED_LENGTHS = (*_TIME_LENGTHS, 20)


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
        """The key that all states of one action share, for example a compaction and the commit as which it completes."""
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


#: A module variable, because timelines are long and the lookup of an enumeration member is slower than a comparison.
_COMPLETED = State.COMPLETED
#: The parts of an instant: requested time, action, state, completion time.
Parts = tuple[str, str, State, str | None]


def parse_instant_name(name: str) -> Instant | None:
    """Parse the name of a file in the timeline folder.

    A name has the form of an instant if it consists of digits, optionally a second group of digits, and the extension of a
    known action.

    Args:
        name: file name without folder, e.g. `20261121091500123.commit.requested`.

    Returns:
        The instant, or None if the file does not belong to the timeline.

    Raises:
        MalformedInstantName: the name has the form of an instant, but a time of a wrong length or an unexpected completion
            time.
    """
    parts = instant_name_parts(name)
    return None if parts is None else Instant(*parts)


@implements("TL-027", "TL-028", "TL-031", "TL-037")
def instant_name_parts(name: str) -> Parts | None:
    """The same as a tuple, which is faster; only one file of each action becomes an `Instant`."""
    times, _, extension = name.partition(".")
    known = EXTENSIONS.get(extension)
    requested, divider, completion = times.partition("_")
    if known is None or not times.isascii() or not requested.isdigit() or (divider and not completion.isdigit()):
        return None
    action, state = known
    if len(requested) not in _REQUESTED_LENGTHS:
        raise _wrong_length(name, "requested", requested, "TL-027" if state < _COMPLETED else "TL-031")
    if state is not _COMPLETED:
        if divider:
            raise _malformed(name, "TL-028", "one time and a pending state", f"{requested} and {completion}")
        return (requested, action, state, None)
    if not divider:
        raise _malformed(name, "TL-031", "<requested time>_<completion time>.<action>", "no completion time")
    if len(completion) not in _TIME_LENGTHS:
        raise _wrong_length(name, "completion", completion, "TL-031")
    if completion <= requested and len(completion) == len(requested):
        raise _malformed(name, "TL-004", "a completion time after the requested time", f"{completion} <= {requested}")
    return (requested, action, state, completion)


def _wrong_length(name: str, which: str, time: str, rule: str) -> MalformedInstantName:
    return _malformed(name, rule, f"a {which} time of 17 digits (yyyyMMddHHmmssSSS)", f"{len(time)} digits")


def _malformed(name: str, rule: str, expected: str, found: str) -> MalformedInstantName:
    return MalformedInstantName(
        "the name of an instant is malformed",
        rule=rule,
        path=name,
        expected=expected,
        found=found,
        remedy="give the file its name in another copy of the table; a file of something else may be moved out of the folder",
    )
