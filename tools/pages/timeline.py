"""`docs/timeline.md`: actions, states, files and records, from the table in `hudi_reference.timeline.instants.states`."""

from collections.abc import Iterable, Iterator
from typing import Any

from hudi_reference.timeline.contents.avro_container import schema_of
from hudi_reference.timeline.instants.states import ACTIONS, MOVES, RAW, Action, Content, Move, State, moves_of

_HEAD = """# The timeline: actions, states, files

<!-- Written by `python -m tools.pages` from reference/hudi_reference/timeline/instants/states.py; change the table there. -->

This page lists the file names of each action, the records in these files, and the steps between the states.

Each change of a table is an *action*. Each of its *states* is a file in `.hoodie/timeline/` that is created atomically and
never changed. Files of earlier states stay; the highest state counts. `T` is the requested time, generated when the action is
requested. `C` is the completion time, generated when it completes. Both are generated while the lock is held.

`hudi-conformance inspect FILE` shows the content of an action's file; `inspect TABLE` shows the timeline.
"""

_WORDS = {
    "request": "publish the plan",
    "begin": "start without a plan",
    "start": "begin the work",
    "start again": "continue in another process",
    "complete": "publish the result",
    "revert": "set back to requested",
    "withdraw": "rollback, restore, deleted savepoint",
    "remove": "rollback",
    "archive": "move to the history",
}
_STATES = {None: "[*]", State.REQUESTED: "requested", State.INFLIGHT: "inflight", State.COMPLETED: "completed"}


def timeline_page() -> str:
    """The page, with a line end at its end."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _HEAD
    yield "## Files\n"
    yield from _table(("action", "requested", "inflight", "completed"), map(_names, ACTIONS.values()))
    yield "\nThe inflight file of a commit has no action in its name. If the completed file has another"
    yield "action in its name, the action has that name after its completion."
    yield "The files of a schemacommit are in `.hoodie/.schema/`.\n"
    yield "## Contents of the files\n"
    yield "Avro containers with one record. The schema in the file is used, not the schema of the reader. *empty* is a file"
    yield "without content. Parentheses list the forms that other releases write or that tables upgraded from version 6 have.\n"
    yield from _table(("action", "requested", "inflight", "completed"), map(_contents, ACTIONS.values()))
    yield "\n## Steps\n"
    yield "All steps:\n"
    yield from _diagram(move for move in MOVES if any(move in moves_of(action) for action in ACTIONS.values()))
    yield "\nThe steps of each action:\n"
    named = list(_WORDS)
    yield from _table(("action", *named), (_steps(action, named) for action in ACTIONS.values()))
    yield "\nA completed action is changed only by steps that roll back the whole action."
    kept = [action.name for action in ACTIONS.values() if not action.archived]
    yield f"Never archived: {', '.join(kept)}.\n"
    yield "## Records\n"
    folder = "reference/hudi_reference/timeline/contents/avsc/"
    yield f"The fields as Apache Hudi 1.0.2 embeds them (`{folder}`); `?` marks fields that may be null.\n"
    for record in sorted(_records()):
        yield f"**{record}**: {', '.join(_fields(schema_of(record)))}.\n"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = list(head)
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _names(action: Action) -> Iterator[str]:
    yield action.name
    yield f"`T.{action.name}.requested`" if action.has_requested else "none"
    yield f"`T.{action.inflight}`"
    yield f"`T_C.{action.completes_as}`"


def _contents(action: Action) -> Iterator[str]:
    yield action.name
    for state in State:
        yield _content(action.contents[state]) if state in action.contents else "none"


def _content(content: Content) -> str:
    if content is RAW:
        return "schemas as JSON text"
    usual = content.record or "empty"
    others = [name for name in content.also if name != usual]
    others += ["empty"] if content.may_be_empty and content.record is not None else []
    others += ["JSON"] if content.json else []
    return usual + (f" ({', '.join(others)})" if others else "")


def _diagram(moves: Iterable[Move]) -> Iterator[str]:
    yield "```mermaid"
    yield "stateDiagram-v2"
    for move in moves:
        yield f"    {_STATES[move.start]} --> {_STATES[move.end]}: {move.named} ({_WORDS[move.named]})"
    yield "```"


def _steps(action: Action, named: Iterable[str]) -> Iterator[str]:
    found = {move.named for move in moves_of(action)}
    yield action.name
    for name in named:
        yield "yes" if name in found else ""


def _records() -> set[str]:
    contents = (content for action in ACTIONS.values() if not action.in_schema_folder for content in action.contents.values())
    return {name for content in contents for name in content.records}


def _fields(schema: Any) -> Iterator[str]:
    for field in schema["fields"]:
        yield f"`{field['name']}` {_type(field['type'])}"


def _type(avro: Any) -> str:
    if isinstance(avro, list):
        inner = next(branch for branch in avro if branch != "null")
        return f"?{_type(inner)}"
    if isinstance(avro, str):
        return avro
    match avro["type"]:
        case "array":
            return f"array of {_type(avro['items'])}"
        case "map":
            return f"map of {_type(avro['values'])}"
        case "record":
            return f"{avro['name']} {{{', '.join(_fields(avro))}}}"
        case kind:
            return str(kind)
