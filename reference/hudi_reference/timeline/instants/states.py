"""Actions and states, spec "Timeline > Actions", "Timeline > States", as a table.

The table defines the names of the files of instants, their contents, and the legal transitions. Code, checks and
docs/timeline.md with its diagram read it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial

from hudi_reference.requirement import implements


class State(IntEnum):
    """The states of an action in their order; the highest state with a file counts."""

    REQUESTED = 0
    INFLIGHT = 1
    COMPLETED = 2


@dataclass(frozen=True)
class Content:
    """The content of the file of one state. `RAW` is a content without a record.

    Attributes:
        record: the Avro record that a writer stores, None for an empty file.
        also: records that a reader must accept too, from other releases or from an upgrade.
        may_be_empty: a reader accepts an empty file, which means that there is no information.
        optional: a writer may store an empty file.
        json: the record may be JSON, as in releases before version 8.
        records: all records that a reader accepts.
        needed: whether a writer must store the record.
    """

    record: str | None = None
    also: tuple[str, ...] = ()
    may_be_empty: bool = False
    json: bool = False
    optional: bool = False
    records: tuple[str, ...] = field(init=False)
    needed: bool = field(init=False)

    def __post_init__(self) -> None:
        """Fill the fields that follow from the others."""
        records = self.also if self.record is None else (self.record, *self.also)
        vars(self).update(records=records, needed=self.record is not None and not self.optional)


_COMMIT, _REPLACE, _PLANNED = "HoodieCommitMetadata", "HoodieReplaceCommitMetadata", "HoodieRequestedReplaceMetadata"
_NOTHING = Content(may_be_empty=True)
#: A write has no plan; an upgrade from version 6 stores metadata without files.
_NO_PLAN = Content(also=(_COMMIT,), may_be_empty=True, json=True)
#: An inflight write may store its workload profile.
_PROFILE = Content(_COMMIT, may_be_empty=True, json=True, optional=True)
#: The history of schemas as JSON text, not Avro.
RAW = Content("JSON")


@dataclass(frozen=True)
class Action:
    """One action type.

    Attributes:
        inflight: the extension of its inflight file.
        completes_as: the action in the name of the completed file.
        contents: the contents of its files by state, without states that have no file.
        writes: whether it adds or replaces data files.
        planned: whether the plan in the requested file suffices to execute it, also again.
        reverts: whether it may move from inflight back to requested.
        can_be_rolled_back: whether a rollback or restore may remove it from the timeline.
        archived: whether it is moved to the history.
        in_schema_folder: whether its files are in `.hoodie/.schema` and not in the timeline folder.
        has_requested: whether it is requested; a savepoint never is, because it protects what is there.
    """

    name: str
    inflight: str
    completes_as: str
    contents: Mapping[State, Content]
    writes: bool = False
    planned: bool = False
    reverts: bool = False
    can_be_rolled_back: bool = False
    archived: bool = True
    in_schema_folder: bool = False
    has_requested: bool = field(init=False)

    def __post_init__(self) -> None:
        """Fill the field that follows from the contents."""
        vars(self).update(has_requested=State.REQUESTED in self.contents)


def _action(
    name: str, requested: Content | None, inflight: Content, completed: Content, *, completes_as: str | None = None,
    word: str | None = None, **properties: bool,
) -> Action:  # fmt: skip
    files = {State.REQUESTED: requested, State.INFLIGHT: inflight, State.COMPLETED: completed}
    contents = {state: content for state, content in files.items() if content is not None}
    return Action(name, word or f"{name}.inflight", completes_as or name, contents, **properties)


_CLEAN = Content("HoodieCleanerPlan")
_write = partial(_action, writes=True, can_be_rolled_back=True)
_service = partial(_action, planned=True, reverts=True, can_be_rolled_back=True)

#: An inflight commit carries no action word (ER-002). A compaction completes as a commit, a log compaction as a deltacommit,
#: a clustering as a replacecommit; a savepoint is never requested. A clean stores its plan twice, or once (Apache Hudi 1.2.0).
#: After an upgrade the pending files of every replacecommit are named clustering, so that clustering has both contents.
#: ER-001: a savepoint has no requested file. ER-003, ER-004, ER-006: which action a service completes as. ER-008: writes leave
#: the requested file empty. ER-009: the inflight file of a replacecommit is commit metadata.
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
        _action("savepoint", None, _NOTHING, Content("HoodieSavepointMetadata"), can_be_rolled_back=True, archived=False),
        _service("indexing", Content("HoodieIndexPlan"), _NOTHING, Content("HoodieIndexCommitMetadata"),
                archived=False),
        _action("schemacommit", _NOTHING, _NOTHING, RAW, archived=False, in_schema_folder=True),
    )
}  # fmt: skip

#: Completed actions that change data files.
COMMITS = frozenset(action.name for action in ACTIONS.values() if action.writes and action.completes_as == action.name)


@dataclass(frozen=True)
class Move:
    """A legal step of an action, from one state to another; None is the timeline without the action.

    `named` is the name of the step.
    """

    named: str
    start: State | None
    end: State | None


#: All steps of actions. A completed action changes only by a rollback, a restore or archiving.
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

    An action that completes under another name has the other action's steps from then on: a completed compaction is archived
    as a commit.
    """
    stays = action.completes_as == action.name
    may = {
        "begin": not action.has_requested,
        "start again": action.planned,
        "revert": action.reverts,
        "withdraw": action.can_be_rolled_back and stays,
        "remove": action.can_be_rolled_back,
        "archive": action.archived and stays,
    }
    known = (None, *action.contents)
    return tuple(move for move in MOVES if may.get(move.named, True) and move.start in known and move.end in known)


#: The steps of each action.
STEPS: Mapping[str, tuple[Move, ...]] = {name: moves_of(action) for name, action in ACTIONS.items()}


@implements("TL-027", "TL-028", "TL-031", "TL-037", "TL-040", "TL-043", "TL-044", "TL-016")
def _extensions() -> dict[str, tuple[str, State]]:
    known: dict[str, tuple[str, State]] = {}
    for action in (action for action in ACTIONS.values() if not action.in_schema_folder):
        if action.has_requested:
            known[f"{action.name}.requested"] = (action.name, State.REQUESTED)
        known[action.inflight] = (action.name, State.INFLIGHT)
        if action.completes_as == action.name:
            known[action.name] = (action.name, State.COMPLETED)
    return known


#: The extension of an instant's file name -> action and state.
EXTENSIONS = _extensions()

#: The extension of a pending file, with its dot -> the action in the name of the completed file.
PENDING = {
    f".{extension}": ACTIONS[action].completes_as
    for extension, (action, state) in EXTENSIONS.items()
    if state is not State.COMPLETED
}
