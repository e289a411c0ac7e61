"""Actions and states, spec "Timeline > Actions", "Timeline > States", as a table.

Code, checks and documentation read this table; nothing else knows how an instant's file is named.
"""

from dataclasses import dataclass
from enum import IntEnum

from hudi_reference.requirement import implements


class State(IntEnum):
    """States in the order in which an action goes through them; the highest one recorded counts."""

    REQUESTED = 0
    INFLIGHT = 1
    COMPLETED = 2


@dataclass(frozen=True)
class Action:
    """One action type.

    `inflight` is the extension of its inflight file; `completes_as` the action whose name the completed file carries;
    `writes` tells whether it adds or replaces data files.
    """

    name: str
    inflight: str
    completes_as: str
    writes: bool = False
    has_requested: bool = True


def _action(name: str, *, completes_as: str | None = None, inflight: str | None = None, writes: bool = False) -> Action:
    return Action(name, inflight or f"{name}.inflight", completes_as or name, writes, name != "savepoint")


#: An inflight commit carries no action word (ER-002). A compaction completes as a commit, a log compaction as a deltacommit,
#: a clustering as a replacecommit; a savepoint is never requested.
ACTIONS: dict[str, Action] = {
    action.name: action
    for action in (
        _action("commit", inflight="inflight", writes=True),
        _action("deltacommit", writes=True),
        _action("replacecommit", writes=True),
        _action("clustering", completes_as="replacecommit", writes=True),
        _action("compaction", completes_as="commit", writes=True),
        _action("logcompaction", completes_as="deltacommit", writes=True),
        _action("clean"),
        _action("rollback"),
        _action("restore"),
        _action("savepoint"),
        _action("indexing"),
    )
}

#: Completed actions that change which rows a table has.
COMMITS = frozenset(action.name for action in ACTIONS.values() if action.writes and action.completes_as == action.name)


@implements("TL-027", "TL-028", "TL-031", "TL-037", "TL-040", "TL-043", "TL-044", "TL-016")
def _extensions() -> dict[str, tuple[str, State]]:
    known: dict[str, tuple[str, State]] = {}
    for action in ACTIONS.values():
        if action.has_requested:
            known[f"{action.name}.requested"] = (action.name, State.REQUESTED)
        known[action.inflight] = (action.name, State.INFLIGHT)
        if action.completes_as == action.name:
            known[action.name] = (action.name, State.COMPLETED)
    return known


#: What follows the times in an instant's file name -> action and state.
EXTENSIONS = _extensions()
