"""Programs of writes, services and rollbacks, with a model of every state that the writes left.

The model is plain Python and imports nothing of the project: a state is a dictionary of rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from random import Random
from typing import Any, Literal

from hypothesis import strategies as st

Row = dict[str, Any]
Rows = Mapping[str, Row]
Type = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
Action = Literal[
    "upsert", "delete", "insert_overwrite", "delete_partition", "clean by commits", "clean by versions", "archive",
    "archive, also beyond savepoints", "savepoint", "delete savepoint", "compaction", "clustering", "rollback", "restore",
    "failed write",
]  # fmt: skip
#: The partition of each key, so that no record moves.
CITIES = {"a": "oslo", "b": "oslo", "c": "rio", "d": "rio", "e": "oslo", "f": "rio"}
#: How often a step is drawn, and the features that it needs.
STEPS: Mapping[Action, tuple[int, tuple[str, ...]]] = {
    "upsert": (10, ("write.upsert",)),
    "delete": (1, ("write.delete",)),
    "insert_overwrite": (2, ("write.insert-overwrite",)),
    "delete_partition": (1, ("write.delete-partition",)),
    "clean by commits": (2, ("service.clean",)),
    "clean by versions": (3, ("service.clean",)),
    "archive": (1, ("service.archive",)),
    "archive, also beyond savepoints": (3, ("service.archive",)),
    "savepoint": (3, ("service.savepoint",)),
    "delete savepoint": (1, ("service.savepoint",)),
    "compaction": (1, ("service.compaction", "merge-on-read")),
    "clustering": (1, ("service.clustering",)),
}
#: The further steps of programs that undo writes.
ROLLBACKS: Mapping[Action, tuple[int, tuple[str, ...]]] = {
    "rollback": (3, ("service.rollback",)),
    "restore": (2, ("service.savepoint", "service.restore")),
    "failed write": (2, ("service.rollback",)),
}
#: Of what a program begins with and ends with: the faults need a state that a savepoint kept, and a later one that was cleaned
#: and archived.
FIRST: tuple[Action, ...] = ("upsert", "upsert", "savepoint")
LAST: tuple[tuple[Action, ...], ...] = (
    (), ("clean by commits", "archive, also beyond savepoints"), ("clean by versions", "archive, also beyond savepoints"),
)  # fmt: skip
#: What programs with rollbacks end with: the state to go back to may be cleaned, and writes after it archived.
ROLLED_BACK: tuple[tuple[Action, ...], ...] = (
    (), ("clean by versions", "rollback"), ("archive, also beyond savepoints", "upsert", "restore"),
)  # fmt: skip


@dataclass(frozen=True)
class Step:
    """A step. Writes use its keys, the first of which names the partition; `number` is how much a service retains."""

    does: Action
    keys: tuple[str, ...]
    number: int

    @property
    def city(self) -> str:
        """The partition of the first key."""
        return CITIES[self.keys[0]]

    @property
    def keys_of_city(self) -> tuple[str, ...]:
        """The keys of that partition."""
        return tuple(key for key in self.keys if CITIES[key] == self.city)


@dataclass(frozen=True)
class Program:
    """A table, with a logging mode of change capture or without change capture, and the steps on it."""

    type: Type
    captures: str | None
    steps: tuple[Step, ...]
    #: Whether writers maintain the metadata table, with statistics and a record index.
    metadata: bool = False


def draw_programs(features: frozenset[str], rolls_back: bool = False) -> st.SearchStrategy[Program]:
    """Draw programs of the steps that an engine with these features offers, with those that undo writes or without them.

    A seed chooses all steps: hypothesis makes many drawn lists of steps by repeating parts of others, and such programs reach
    few further states. The shortest beginning of a program that fails is searched all the same.
    """
    seeds, lengths = st.integers(0, 2**20), st.integers(8, 16)
    return st.builds(lambda seed, length: _program(features, seed, length, rolls_back), seeds, lengths)


def _program(features: frozenset[str], seed: int, length: int, rolls_back: bool) -> Program:
    random, choice = Random(seed), {**STEPS, **ROLLBACKS} if rolls_back else STEPS
    offered = {does: often for does, (often, needs) in choice.items() if features.issuperset(needs)}
    types: tuple[Type, ...] = ("COPY_ON_WRITE", "MERGE_ON_READ") if "merge-on-read" in features else ("COPY_ON_WRITE",)
    modes = ("OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER") if "read.cdc" in features else ()
    type, captures = random.choice(types), random.choice((None, *modes))
    last = [does for does in random.choice(ROLLED_BACK if rolls_back else LAST) if does in offered]
    first = [random.choice([does for does in FIRST if does in offered]) for _ in range(4)]
    further = random.choices(list(offered), list(offered.values()), k=length - 4)
    steps = (Step(does, tuple(random.sample(sorted(CITIES), random.randint(1, 2))), random.randint(1, 3))
             for does in (*first, *further, *last))  # fmt: skip
    return Program(type, captures, tuple(steps), rolls_back and "write.metadata-table" in features and seed % 3 > 0)


#: A program after which every state can be read.
WRITES_ONLY = Program("COPY_ON_WRITE", None, tuple(Step("upsert", (key, "a"), 1) for key in "bcdb"))


@dataclass(frozen=True)
class State:
    """What a write left: the rows by key. The times are empty for the state before the first write."""

    requested: str
    completion: str
    rows: Rows
    #: The number of the write.
    number: int


@dataclass
class History:
    """Every state of a table. A row was written by the write whose number it has as `ts`; a number is used once."""

    states: list[State] = field(default_factory=lambda: [State("", "", {}, 0)])
    #: The number of the next write.
    number: int = 1

    @property
    def rows(self) -> Rows:
        """The rows now."""
        return self.states[-1].rows

    def new_rows(self, keys: Sequence[str]) -> dict[str, Row]:
        """Return the rows that the next write has for these keys."""
        return {key: {"id": key, "city": CITIES[key], "ts": self.number, "value": f"write {self.number}"} for key in keys}

    def rows_after(self, step: Step) -> Rows:
        """Return the rows after a write."""
        match step.does:
            case "upsert":
                return {**self.rows, **self.new_rows(step.keys)}
            case "delete":
                return {key: row for key, row in self.rows.items() if key not in step.keys}
        others = {key: row for key, row in self.rows.items() if row["city"] != step.city}
        return {**others, **self.new_rows(step.keys_of_city)} if step.does == "insert_overwrite" else others

    def add(self, requested: str, completion: str, rows: Rows) -> None:
        """Add the state that a write left."""
        self.states.append(State(requested, completion, rows, self.number))
        self.number += 1

    def undo_after(self, requested: str) -> None:
        """Remove the states after that of a write."""
        last = next(place for place, state in enumerate(self.states) if state.requested == requested)
        del self.states[last + 1 :]

    def windows(self) -> Iterator[tuple[int, int]]:
        """Yield windows as numbers of states: to each state from one long before and from the one before."""
        for end in range(1, len(self.states)):
            yield from ((begin, end) for begin in sorted({end // 2, end - 1}))

    def changed(self, begin: int, end: int) -> list[Row]:
        """Return the rows of the state `end` that a write after the state `begin` wrote."""
        return [row for row in self.states[end].rows.values() if row["ts"] > self.states[begin].number]

    def replay(self, begin: int, changes: Sequence[Mapping[str, Any]]) -> Rows:
        """Apply the changes of a window to the state at its beginning.

        Args:
            begin: the number of that state.
            changes: op, ts_ms, before and after of each.

        Returns:
            The rows after it.

        Raises:
            AssertionError: an image before a change is not the row that the change replaces.
        """
        rows = dict(self.states[begin].rows)
        # A write that replaces a partition may delete a row and insert it again.
        in_order = sorted(changes, key=lambda change: (change["ts_ms"], change["op"] != "d"))
        for _, together in groupby(in_order, key=lambda change: change["ts_ms"]):
            for change in together:
                before, after = (change[image] and {n: change[image][n] for n in COLUMNS} for image in ("before", "after"))
                key = (before or after)["id"]
                assert rows.pop(key, None) == before, f"{change} does not replace the row of {key}"
                if after:
                    rows[key] = after
        return rows


COLUMNS = ("id", "city", "ts", "value")
