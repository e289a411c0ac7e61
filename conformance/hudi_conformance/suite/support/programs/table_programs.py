"""Programs of writes and services on a table, with queries of every kind after each step.

`Program` is plain data, so that a failed one can be saved and made a golden case. `programs` draws it from a `Vocabulary`, the
steps and queries that the engine offers.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any, Literal, get_args

import pyarrow as pa
from hypothesis import strategies as st

from hudi_conformance.contract import TableSpec
from hudi_conformance.contract.messages import Operation
from hudi_conformance.model import Model
from hudi_conformance.model.merge import PARTIAL_UPDATE_MODES, PAYLOADS, UNAVAILABLE, PayloadBehaviour, log_position
from hudi_conformance.suite.support.programs.write_programs import table_versions

Row = dict[str, Any]
#: How many programs a test draws: a function of the number for fast engines, the number for slow ones, and the engines.
Budget = Callable[..., int]
Family = Literal["commit-time", "event-time", "custom"]
Write = Operation
Action = Literal[
    Write, "compaction", "log-compaction", "clustering", "clean", "archive", "savepoint", "delete savepoint", "restore",
    "rollback",
]  # fmt: skip
Kind = Literal["snapshot", "read-optimized", "as-of", "incremental", "cdc"]

MODES: Mapping[Family, Any] = {
    "commit-time": "COMMIT_TIME_ORDERING", "event-time": "EVENT_TIME_ORDERING", "custom": "CUSTOM",
}  # fmt: skip
#: Ordering fields by type: four increasing values of that type.
RANKS: Mapping[str, tuple[Any, ...]] = {
    "long": (1, 2, 9, 10),
    "int": (1, 2, 9, 10),
    "double": (-2.5, -0.0, 0.0, 1e10),
    "string": ("B", "a", "\uffee", "\U0001f600"),
    "date": tuple(date(2026, 1, day) for day in (1, 2, 9, 10)),
    "decimal(9,2)": tuple(Decimal(text) for text in ("-1.00", "0.50", "9.00", "10.00")),
}
#: Positions in a binary log, file and offset: increasing as numbers, and not as text.
LOG_POSITIONS = ("1.9", "1.10", "2.1", "10.1")
#: The features without which a type of ordering field is not drawn.
FEATURE_OF_TYPE = {"date": "types.temporal", "decimal(9,2)": "types.decimal"}
AVRO_TYPES: Mapping[str, Any] = {
    "date": {"type": "int", "logicalType": "date"},
    "decimal(9,2)": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
}
ARROW_TYPES: Mapping[str, pa.DataType] = {
    "long": pa.int64(), "int": pa.int32(), "double": pa.float64(), "string": pa.string(), "date": pa.date32(),
    "decimal(9,2)": pa.decimal128(9, 2), "boolean": pa.bool_(),
}  # fmt: skip
PACKAGE, PAYLOAD_STRATEGY = "org.apache.hudi.common.model.", "00000000-0000-0000-0000-000000000000"
#: Columns that a partial update may leave out.
OTHERS = ("name", "note", "size")


@dataclass(frozen=True)
class Shape:
    """A table. `orders` is the type of its field `ts`; with `two`, an int field `seq` decides between equal ones.

    `payload` is the class by which a table of mode CUSTOM merges, `captures` the logging mode of its change-capture files,
    `version` the table version, `partial` its partial update mode, which version 9 has.
    """

    type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
    family: Family
    orders: str = "long"
    two: bool = False
    partitioned: bool = True
    payload: str | None = None
    captures: str | None = None
    version: int = 8
    partial: str | None = None

    @property
    def types(self) -> dict[str, str]:
        """The type of each queried column."""
        ordered = {self.ordered_by: self.orders} | ({"seq": "int"} if self.two else {})
        return {"id": "string", "city": "string", **ordered, "name": "string", "note": "string", "size": "int"}

    @property
    def stored_types(self) -> dict[str, str]:
        """The same with the column that flags deletes."""
        return {**self.types, self.flag[0]: "boolean" if self.flag[1] is True else "string"}

    @property
    def behaviour(self) -> PayloadBehaviour:
        """That of the payload class."""
        return PAYLOADS[self.payload] if self.payload else PayloadBehaviour()

    @property
    def flag(self) -> tuple[str, Any]:
        """The column that flags deletes, and its value."""
        return self.behaviour.flag

    @property
    def ordered_by(self) -> str:
        """The column of the ordering value: payload classes of database sources name it."""
        return self.behaviour.ordering or "ts"

    @property
    def ordering(self) -> tuple[str, ...]:
        """The ordering fields; in commit-time mode there may be none."""
        return () if self.family == "commit-time" else ("ts", "seq") if self.two else (self.ordered_by,)

    def spec(self) -> TableSpec:
        """Return the table to create."""
        types = self.stored_types
        fields = [{"name": n, "type": ["null", AVRO_TYPES.get(t, t)], "default": None} for n, t in types.items()]
        properties = {}
        if self.payload is not None:
            properties["hoodie.compaction.payload.class"] = PACKAGE + self.payload
            properties["hoodie.record.merge.strategy.id"] = PAYLOAD_STRATEGY
        if self.captures is not None:
            properties["hoodie.table.cdc.enabled"] = "true"
            properties["hoodie.table.cdc.supplemental.logging.mode"] = self.captures
        if self.partial is not None:
            properties["hoodie.table.partial.update.mode"] = self.partial
        return TableSpec(
            "everything", self.type, {"type": "record", "name": "row", "namespace": "hoodie.everything", "fields": fields},
            ("id",), ("city",) if self.partitioned else (), self.ordering, MODES[self.family], properties=properties,
            version=self.version,
        )  # fmt: skip

    def model(self) -> Model:
        """Return the model of the empty table."""
        spec = self.spec()
        return Model(
            record_key=spec.record_key, partition=spec.partition, ordering=spec.ordering, merge_mode=spec.merge_mode,
            table_type=spec.type, payload=self.payload, partial_update_mode=self.partial,
        )  # fmt: skip

    def row(self, drawn: Row, kept: Collection[str] = OTHERS) -> Row:
        """Return the table's row for a drawn one: key, partition, ordering fields by its `rank`, and the columns that are
        kept.
        """
        place = drawn["rank"] // 2 if self.two else drawn["rank"]
        ranks = LOG_POSITIONS if self.behaviour.position is log_position else RANKS[self.orders]
        found = {"id": drawn["id"], "city": drawn["city"], self.ordered_by: ranks[place]}
        if self.two:
            found["seq"] = drawn["rank"] % 2 + 1
        found |= {name: drawn[name] for name in OTHERS if name in kept}
        column, value = self.flag
        flag = drawn["deleted"] if value is True else value if drawn["deleted"] else "u"
        return found | ({column: flag} if len(kept) == len(OTHERS) else {})

    def arrow(self, rows: Collection[Row]) -> pa.Table:
        """Return rows for the contract, with the columns of the first one."""
        names = next(iter(rows)).keys() if rows else self.types
        types = self.stored_types
        schema = pa.schema([(name, ARROW_TYPES[types[name]]) for name in names])
        return pa.Table.from_pylist(list(rows), schema=schema)


@dataclass(frozen=True)
class DrawnQuery:
    """A query after a step; `first` and `second` choose among the times that can be asked for then."""

    kind: Kind
    first: int = 0
    second: int = 0


@dataclass(frozen=True)
class Step:
    """A step: a write with its drawn rows (and, for a partial update, its columns), or a service."""

    does: Action
    rows: tuple[Row, ...] = ()
    columns: tuple[str, ...] = OTHERS
    ask: DrawnQuery = DrawnQuery("snapshot")


@dataclass(frozen=True)
class Program:
    """A table, and the steps on it."""

    shape: Shape
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Vocabulary:
    """The steps and queries of programs, by the features that all engines of a run declare."""

    features: frozenset[str]

    def has(self, *features: str) -> bool:
        """Return whether all of these are declared."""
        return self.features.issuperset(features)

    def actions(self, shape: Shape) -> list[Action]:
        """Return the possible steps on such a table; frequent ones are repeated."""
        found: list[Action] = ["upsert", "upsert", "upsert", "upsert", "delete", "delete"]
        found += [one for one in ("insert", "bulk_insert") if self.has(f"write.{one.replace('_', '-')}")]
        if self.has("write.partial-update", "merge.partial-updates") and shape.payload is None:
            found += ["partial_update", "partial_update"]
        if shape.type == "MERGE_ON_READ":
            found += [one for one in ("compaction", "compaction", "compaction", "log-compaction") if self.has(f"service.{one}")]
        found += [one for one in ("clustering", "clean", "archive", "rollback") if self.has(f"service.{one}")]
        if self.has("write.insert-overwrite", "write.delete-partition"):
            found += ["insert_overwrite", "delete_partition"]
        if self.has("service.savepoint", "service.restore"):
            found += ["savepoint", "delete savepoint", "restore"]
        return found

    def kinds(self, shape: Shape) -> list[Kind]:
        """Return the possible queries of such a table: of changes only if it captures them, as releases require."""
        asked = [kind for kind in get_args(Kind) if self.has(f"read.{kind}")]
        return [kind for kind in asked if kind != "cdc" or shape.captures is not None]

    def shapes(self, family: Family, payload: str | None) -> st.SearchStrategy[Shape]:
        """Draw tables of one family, with this payload class if it is custom."""
        types = [name for name in RANKS if name not in FEATURE_OF_TYPE or self.has(FEATURE_OF_TYPE[name])]
        drawn = st.builds(
            Shape,
            type=st.sampled_from(("COPY_ON_WRITE", "MERGE_ON_READ", "MERGE_ON_READ")),
            family=st.just(family),
            orders=st.sampled_from(("long", *types)),
            two=st.booleans() if self.has("merge.multiple-ordering-fields") else st.just(False),
            partitioned=st.booleans(),
            payload=st.just(payload),
            captures=st.sampled_from((None, "OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"))
            if self.has("read.cdc")
            else st.none(),
            version=st.sampled_from(table_versions(self.features) if family != "custom" else (8,)),
            partial=st.sampled_from((None, *PARTIAL_UPDATE_MODES)),
        )
        return drawn.map(_simplified)


def _simplified(shape: Shape) -> Shape:
    """Drop the second ordering field if the first has other types than long, or if no ordering field is used, and the partial
    update mode at version 8. An ordering field that the payload class names has one type.
    """
    two = shape.two and shape.orders == "long" and bool(shape.ordering) and shape.payload is None
    own = {"_event_seq": "string", "_event_lsn": "long"}.get(shape.ordered_by, shape.orders)
    return replace(shape, two=two, orders=own, partial=shape.partial if shape.version > 8 else None)


@st.composite
def draw_programs(
    draw: st.DrawFn, vocabulary: Vocabulary, family: Family, payload: str | None = None, most_steps: int = 9
) -> Program:
    """Draw a program over few keys, so that versions are merged often; one row for a key in each input."""
    shape = draw(vocabulary.shapes(family, payload))
    first = Step("upsert", tuple({**row, "deleted": None} for row in draw(_rows(shape))))
    return Program(shape, (first, *draw(st.lists(_steps(shape, vocabulary), min_size=3, max_size=most_steps))))


def _steps(shape: Shape, vocabulary: Vocabulary) -> st.SearchStrategy[Step]:
    asks = st.builds(DrawnQuery, st.sampled_from(vocabulary.kinds(shape)), st.integers(0, 7), st.integers(0, 7))

    def steps(does: Action) -> st.SearchStrategy[Step]:
        rows = _rows(shape) if does in get_args(Write) else st.just(())
        columns = _PARTS if does == "partial_update" else st.just(OTHERS)
        return st.builds(Step, st.just(does), rows, columns, asks)

    return st.sampled_from(vocabulary.actions(shape)).flatmap(steps)


_PARTS = st.sampled_from((("name",), ("note",), ("name", "size"), ("size", "note")))


def _rows(shape: Shape) -> st.SearchStrategy[tuple[Row, ...]]:
    drawn = st.fixed_dictionaries({
        "id": st.sampled_from("abc"), "city": st.sampled_from(("oslo", "rio")), "rank": st.integers(0, 3),
        "name": st.sampled_from(("x", "y", None, UNAVAILABLE)),
        "note": st.sampled_from(("m", None)), "size": st.sampled_from((1, 2, None)),
        "deleted": st.sampled_from((None, None, False, True)),
    })  # fmt: skip

    def identity(row: Row) -> Any:
        return (row["id"], row["city"]) if shape.partitioned else row["id"]

    return st.lists(drawn, min_size=1, max_size=4, unique_by=identity).map(tuple)
