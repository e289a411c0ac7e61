"""Every action in each of its states, on both table types."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from tools.recipes.interrupted_actions import Until
from tools.recipes.recipe import (
    HUDI,
    HUDI_1_2,
    Check,
    Recipe,
    Step,
    Table,
    compact,
    delete_partition,
    insert,
    insert_overwrite,
    invisible,
    service,
    stopped,
    upsert,
)
from tools.recipes.timeline.timeline import COW_PARTED, MOR_PARTED, SLICES, check_timeline, row, timeline

State = Literal["requested", "begun", "inflight", "completed"]

TYPES = {"cow": COW_PARTED, "mor": MOR_PARTED}
STATES: tuple[State, ...] = ("requested", "begun", "inflight", "completed")
#: Descriptions of the states. All work of the action is done between `begun` and `inflight`.
MEANS: dict[State, str] = {
    "requested": "is only requested",
    "begun": "was started and has done no work",
    "inflight": "has done all its work but is not completed",
    "completed": "is completed",
}
FIRST = upsert(row(1, "north", p="n"), row(1, "north too", key="b", p="n"), row(1, "south", key="c", p="s"))
SECOND = upsert(row(2, "north again", p="n"), row(1, "added", key="d", p="s"))
#: The smallest metadata table, which indexing needs.
METADATA = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "false"}
LOST = upsert(row(3, "undone", p="n"), row(1, "undone too", key="e", p="s"))


def after_two(_: State) -> tuple[Step, ...]:
    """Two commits; the second one changes a row and adds one."""
    return (FIRST, SECOND)


def with_small_groups(_: State) -> tuple[Step, ...]:
    """Two file groups in one partition."""
    return (insert(row(1, "north", p="n")), insert(row(1, "north too", key="b", p="n"), row(1, "south", key="c", p="s")))


def with_two_logs(_: State) -> tuple[Step, ...]:
    """A base file with two logs, in one partition."""
    return (FIRST, upsert(row(2, "north again", p="n")), upsert(row(3, "and again", p="n")))


def rolled_back_by_work(*before: Step) -> Callable[[State], tuple[Step, ...]]:
    """`before`, and a commit that exists until the work of the action is done."""

    def steps(state: State) -> tuple[Step, ...]:
        return (*before, invisible(LOST) if state in ("inflight", "completed") else LOST)

    return steps


def with_a_failed_write(_: State) -> tuple[Step, ...]:
    """A commit, and a write whose writer crashed before it completed."""
    return (FIRST, stopped(LOST, "inflight"))


@dataclass(frozen=True)
class Act:
    """An action: the steps before it, its step, its effect, and the rules. `word` is in the id, `named` in the text.

    `pending` is the effect on rows before the state `done_from`, `done` the effect in that state and after it.
    """

    word: str
    step: Step
    before: Callable[[State], tuple[Step, ...]] = after_two
    types: tuple[str, ...] = ("cow", "mor")
    states: tuple[State, ...] = ("requested", "inflight", "completed")
    rules: tuple[str, ...] = ("TL-033",)
    options: tuple[tuple[str, str], ...] = ()
    needs: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
    pending: str = "changes no row"
    done: str = "changes no row"
    done_from: State = "completed"
    flag: str = "lost-write"
    named: str = ""


OVERWRITE = insert_overwrite(row(1, "instead", key="d", p="n"))

ACTS = [
    Act("write", upsert(row(3, "third", p="n"), row(1, "new", key="e", p="n")), rules=("TL-033", "RDR-008"), flag="dirty-read",
        states=("requested", "begun", "inflight"), pending="neither adds nor changes a row"),
    Act("insert-overwrite", OVERWRITE, rules=("TL-010", "TL-039"), needs=("timeline.replaced-groups",),
        pending="neither hides nor adds a row",
        done="hides the replaced rows and adds its own", flag="dirty-read"),
    Act("delete-partition", delete_partition({"p": "s"}), rules=("TL-010", "TL-039"), needs=("timeline.replaced-groups",),
        pending="hides no row",
        done="hides the rows of its partition", named="deletion of a partition"),
    Act("clustering", service("cluster"), with_small_groups, rules=("TL-040", "TL-042", "RDR-010"),
        needs=("timeline.replaced-groups",), errata=("ER-003",), flag="double-apply"),
    Act("compaction", compact(), with_two_logs, ("mor",), rules=("TL-042", "RDR-012"), needs=("timeline.pending-compaction",),
        errata=("ER-004",), flag="double-apply"),
    Act("log-compaction", service("log_compact"), with_two_logs, ("mor",), rules=("TL-042", "TL-016"), flag="double-apply"),
    Act("clean", service("clean"), states=STATES, rules=("TL-033", "TL-013")),
    Act("rollback", service("rollback", of=2), rolled_back_by_work(FIRST, SECOND), states=STATES, rules=("TL-033", "TL-019"),
        pending="removes no row", done="removes the rows of its target", done_from="inflight", flag="resurrected-row"),
    Act("rollback-of-a-dead-write", service("rollback_pending", of=1), with_a_failed_write, rules=("TL-033", "TL-019"),
        flag="dirty-read", named="rollback of a failed write"),
    Act("restore", service("restore", of=0), rolled_back_by_work(FIRST, service("savepoint", of=0), invisible(SECOND)),
        rules=("TL-033", "TL-023"), states=("inflight", "completed"),
        pending="removes no row", done="removes the rows after its savepoint", done_from="inflight", flag="resurrected-row"),
    Act("restore", service("restore", of=0), rolled_back_by_work(FIRST, service("savepoint", of=0), SECOND),
        rules=("TL-033", "TL-023"), states=("requested", "begun"),
        pending="removes no row", done="removes the rows after its savepoint", done_from="inflight", flag="resurrected-row"),
    Act("savepoint", service("savepoint", of=1), states=("inflight", "completed"), rules=("TL-033", "TL-022"),
        errata=("ER-001",)),
    Act("indexing", service("create_index"), types=("mor",), options=tuple(METADATA.items()), rules=("TL-033", "TL-037"),
        named="indexing action"),
]  # fmt: skip

#: Actions for which another release writes other plans, files or rows.
ALSO_BY_1_2 = ("clean.inflight.cow", "compaction.requested.mor", "rollback.inflight.mor")

#: The rules for the file names of each state.
NAMES: dict[State, tuple[str, ...]] = {
    "requested": ("TL-025", "TL-027"),
    "begun": ("TL-025", "TL-028", "TL-053"),
    "inflight": ("TL-025", "TL-028", "TL-053"),
    "completed": ("TL-025", "TL-031", "TL-053", "LAY-017"),
}


def recipe_of(act: Act, state: State, short: str) -> Recipe:
    """The recipe of an action in a state on one type of table, with its rows and its timeline."""
    table: Table = TYPES[short].having(options=dict(act.options))
    until: dict[State, Until] = {"requested": "requested", "begun": "begun", "inflight": "inflight"}
    step = act.step if state == "completed" else stopped(act.step, until[state])
    what = act.named or act.word.replace("-", " ")
    article = "An" if what[0] in "aeiou" else "A"
    effect = act.done if STATES.index(state) >= STATES.index(act.done_from) else act.pending
    shows: dict[str, Any] = {"errata": act.errata} if act.errata and state == "completed" else {}
    name = f"{act.word}.{state}.{short}"
    return timeline(
        f"states.{name}",
        table,
        *act.before(state),
        step,
        producers=(HUDI, HUDI_1_2) if name in ALSO_BY_1_2 else (HUDI,),
        needs=act.needs,
        checks=(
            Check(
                requirements=(*act.rules, "TYP-007"),
                says=f"{article} {what} that {MEANS[state]} {effect}.",
                if_it_fails=SLICES,
                flags=(act.flag,),
            ),
            check_timeline(
                *NAMES[state],
                *(("TL-022",) if act.word == "savepoint" else ()),
                says=f"{article} {what} that {MEANS[state]} is on the timeline once, in that state.",
                **shows,
            ),
        ),
    )


def recipes() -> Iterator[Recipe]:
    """All of them."""
    for act in ACTS:
        for state in act.states:
            for short in act.types:
                yield recipe_of(act, state, short)


RECIPES = list(recipes())
