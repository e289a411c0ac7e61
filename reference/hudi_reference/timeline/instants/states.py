"""Actions and states, spec "Timeline > Actions", "Timeline > States", as a table.

Code, checks, the page docs/timeline.md and its diagram come from this table; nothing else knows how an instant's file is
named, what it holds, or which state may follow which.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

from hudi_reference.requirement import implements


class State(IntEnum):
    """States in the order in which an action goes through them; the highest one recorded counts."""

    REQUESTED = 0
    INFLIGHT = 1
    COMPLETED = 2


@dataclass(frozen=True)
class Content:
    """What the file of one state holds.

    `record` is the Avro record that a writer stores, None for an empty file. A reader meets `also` too: what other releases
    store, and what an upgrade leaves behind. `may_be_empty`: a reader takes an empty file for "nothing to say"; `optional`: a
    writer may leave it at that.
    `json`: a reader may find the record as JSON, as releases before version 8 stored it; `RAW` content is no record at all.
    """

    record: str | None = None
    also: tuple[str, ...] = ()
    may_be_empty: bool = False
    json: bool = False
    optional: bool = False

    @property
    def records(self) -> tuple[str, ...]:
        """All records that a reader may find."""
        return self.also if self.record is None else (self.record, *self.also)

    @property
    def needed(self) -> bool:
        """Whether a writer has to store the record."""
        return self.record is not None and not self.optional


_COMMIT, _REPLACE, _PLANNED = "HoodieCommitMetadata", "HoodieReplaceCommitMetadata", "HoodieRequestedReplaceMetadata"
_NOTHING = Content(may_be_empty=True)
#: A plain write has no plan; an upgrade from version 6 puts metadata without files there.
_NO_PLAN = Content(also=(_COMMIT,), may_be_empty=True, json=True)
#: A write that is under way may say what it is about to do.
_PROFILE = Content(_COMMIT, may_be_empty=True, json=True, optional=True)
#: No Avro: the history of schemas as JSON text.
RAW = Content("JSON")


@dataclass(frozen=True)
class Action:
    """One action type.

    `inflight` is the extension of its inflight file; `completes_as` the action whose name the completed file carries;
    `contents` what the files hold, state by state, without the states that the action has no file for; `writes` tells
    whether it adds or replaces data files, `planned` whether the plan in the requested file is all that somebody needs to
    carry it out (again), `goes_back` whether it may return from inflight to requested, `undone` whether rollback or restore
    may take it from the timeline, `archived` whether it moves to the history when it is old; `elsewhere`: its files lie in
    `.hoodie/.schema`, and the timeline folder has none of them.
    """

    name: str
    inflight: str
    completes_as: str
    contents: Mapping[State, Content]
    writes: bool = False
    planned: bool = False
    goes_back: bool = False
    undone: bool = False
    archived: bool = True
    elsewhere: bool = False

    @property
    def has_requested(self) -> bool:
        """A savepoint is never requested: it protects what is there."""
        return State.REQUESTED in self.contents


def _action(
    name: str, requested: Content | None, inflight: Content, completed: Content, *, completes_as: str | None = None,
    word: str | None = None, **properties: bool,
) -> Action:  # fmt: skip
    files = {State.REQUESTED: requested, State.INFLIGHT: inflight, State.COMPLETED: completed}
    contents = {state: content for state, content in files.items() if content is not None}
    return Action(name, word or f"{name}.inflight", completes_as or name, contents, **properties)


_CLEAN = Content("HoodieCleanerPlan")
_write = partial(_action, writes=True, undone=True)
_service = partial(_action, planned=True, goes_back=True, undone=True)

#: An inflight commit carries no action word (ER-002). A compaction completes as a commit, a log compaction as a deltacommit,
#: a clustering as a replacecommit; a savepoint is never requested. A clean says its plan twice, or once (Apache Hudi 1.2.0).
#: After an upgrade the pending files of every replacecommit bear the word clustering, so their contents meet here.
ACTIONS: dict[str, Action] = {
    action.name: action
    for action in (
        _write("commit", _NO_PLAN, _PROFILE, Content(_COMMIT), word="inflight"),
        _write("deltacommit", _NO_PLAN, _PROFILE, Content(_COMMIT)),
        _write("replacecommit", Content(_PLANNED, may_be_empty=True), _PROFILE, Content(_REPLACE)),
        _service("clustering", Content(_PLANNED, may_be_empty=True), _NO_PLAN, Content(_REPLACE),
                completes_as="replacecommit", writes=True),
        _service("compaction", Content("HoodieCompactionPlan"), _NOTHING, Content(_COMMIT),
                completes_as="commit", writes=True),
        _service("logcompaction", Content("HoodieCompactionPlan"), _NOTHING, Content(_COMMIT),
                completes_as="deltacommit", writes=True),
        _action("clean", _CLEAN, Content("HoodieCleanerPlan", may_be_empty=True, optional=True), Content("HoodieCleanMetadata"),
                planned=True),
        _action("rollback", Content("HoodieRollbackPlan"), _NOTHING, Content("HoodieRollbackMetadata"), planned=True),
        _action("restore", Content("HoodieRestorePlan"), _NOTHING, Content("HoodieRestoreMetadata"),
                planned=True, archived=False),
        _action("savepoint", None, _NOTHING, Content("HoodieSavepointMetadata"), undone=True, archived=False),
        _service("indexing", Content("HoodieIndexPlan"), _NOTHING, Content("HoodieIndexCommitMetadata"),
                archived=False),
        _action("schemacommit", _NOTHING, _NOTHING, RAW, archived=False, elsewhere=True),
    )
}  # fmt: skip

#: Completed actions that change which rows a table has.
COMMITS = frozenset(action.name for action in ACTIONS.values() if action.writes and action.completes_as == action.name)


@dataclass(frozen=True)
class Move:
    """A legal step of an action, from one state to another; None is the timeline without it. `named` is its name here."""

    named: str
    start: State | None
    end: State | None


#: Every step that any action may take. Completed is final but for what undoes whole actions, and for archiving.
MOVES = (
    Move("request", None, State.REQUESTED),
    Move("begin", None, State.INFLIGHT),
    Move("start", State.REQUESTED, State.INFLIGHT),
    Move("start again", State.INFLIGHT, State.INFLIGHT),
    Move("complete", State.INFLIGHT, State.COMPLETED),
    Move("revert", State.INFLIGHT, State.REQUESTED),
    Move("withdraw", State.COMPLETED, State.INFLIGHT),
    Move("remove", State.REQUESTED, None),
    Move("remove", State.INFLIGHT, None),
    Move("archive", State.COMPLETED, None),
)


@implements("TL-025", "TL-050", "TL-051", "TL-052")
def moves_of(action: Action) -> tuple[Move, ...]:
    """The steps that an action may take, in the order of `MOVES`.

    What completes under another name is that other action from then on: a completed compaction is archived as a commit.
    """
    stays = action.completes_as == action.name
    may = {
        "begin": not action.has_requested,
        "start again": action.planned,
        "revert": action.goes_back,
        "withdraw": action.undone and stays,
        "remove": action.undone,
        "archive": action.archived and stays,
    }
    known = (None, *action.contents)
    return tuple(move for move in MOVES if may.get(move.named, True) and move.start in known and move.end in known)


@implements("TL-027", "TL-028", "TL-031", "TL-037", "TL-040", "TL-043", "TL-044", "TL-016")
def _extensions() -> dict[str, tuple[str, State]]:
    known: dict[str, tuple[str, State]] = {}
    for action in (action for action in ACTIONS.values() if not action.elsewhere):
        if action.has_requested:
            known[f"{action.name}.requested"] = (action.name, State.REQUESTED)
        known[action.inflight] = (action.name, State.INFLIGHT)
        if action.completes_as == action.name:
            known[action.name] = (action.name, State.COMPLETED)
    return known


#: What follows the times in an instant's file name -> action and state.
EXTENSIONS = _extensions()

#: What follows the requested time in the name of a pending file, with its point -> the action as which it completes.
PENDING = {
    f".{extension}": ACTIONS[action].completes_as
    for extension, (action, state) in EXTENSIONS.items()
    if state is not State.COMPLETED
}
