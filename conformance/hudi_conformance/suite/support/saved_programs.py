"""Drawn programs that an engine failed, as JSON files and as golden cases: the program becomes a table and its expected
answers.
"""

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pyarrow as pa

from hudi_conformance.cases.rows import canonical_rows
from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.in_process import InProcessTransport
from hudi_conformance.contract.messages import Operation, Phase, Service
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.processes.session import lasting_folder
from hudi_conformance.suite.support.programs import table_programs as everything
from hudi_conformance.suite.support.programs.table_programs import DrawnQuery, Shape
from hudi_conformance.suite.support.programs.write_programs import Program, Step

if TYPE_CHECKING:
    from hudi_conformance.suite.support.program_runner import ProgramRun, Question
    from hudi_reference import WritableTable

#: A program of writes alone, or one with services and queries.
AnyProgram = Program | everything.Program


def program_to_json(program: AnyProgram) -> dict[str, Any]:
    """Return the program as a JSON value."""
    return dataclasses.asdict(program)


def program_from_json(value: Mapping[str, Any]) -> AnyProgram:
    """Return the program of a JSON value of `to_json`."""
    if "shape" not in value:
        steps = tuple(Step(step["operation"], tuple(step["rows"])) for step in value["steps"])
        return Program(value["type"], value["merge_mode"], value["partitioned"], steps, value.get("version", 8))
    done = (
        everything.Step(step["does"], tuple(step["rows"]), tuple(step["columns"]), DrawnQuery(**step["ask"]))
        for step in value["steps"]
    )
    return everything.Program(Shape(**value["shape"]), tuple(done))


def save_program(program: AnyProgram) -> str:
    """Save the program to a file; return a line with the command that makes it a golden case."""
    text = json.dumps(program_to_json(program), indent=1, sort_keys=True)
    folder = lasting_folder() / "hudi-conformance-programs"
    folder.mkdir(exist_ok=True)
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    path.write_text(text + "\n")
    return f"keep it as a golden case: hudi-conformance fixtures add {path}"


def add_case(program: AnyProgram, case_id: str, root: Path) -> Path:
    """Write the case of a program below the fixtures `root`; return its folder.

    The reference creates the table (the same bytes each time), the model gives the expected rows of each query.
    """
    area, _, name = case_id.partition(".")
    folder = root / area / name
    whole = program if isinstance(program, everything.Program) else to_table_program(program)
    # Some records of a timeline contain the table's path, which therefore has to be the same each time.
    place = lasting_folder() / "hudi-conformance-case"
    shutil.rmtree(place, ignore_errors=True)
    driven = run_on_reference(whole, (place / "table").as_uri())
    _write(folder / "expected" / "reads.json", _reads(driven))
    _write(folder / "case.json", _case(whole, case_id, driven))
    _write(folder / "program.json", program_to_json(program))
    shutil.move(place / "table", folder / "table")
    return folder


def to_table_program(program: Program) -> everything.Program:
    """Return a program of writes as a table program; its ordering values are replaced by their ranks."""
    family: everything.Family = "event-time" if program.merge_mode == "EVENT_TIME_ORDERING" else "commit-time"
    ranks = sorted({row["ts"] for step in program.steps for row in step.rows})
    if len(ranks) > len(everything.RANKS["long"]):
        raise ValueError(
            f"a program of {len(ranks)} ordering values; at most {len(everything.RANKS['long'])} can be told apart"
        )
    steps = [
        everything.Step(step.operation, tuple(_drawn(row, ranks.index(row["ts"])) for row in step.rows))
        for step in program.steps
    ]
    return everything.Program(
        Shape(program.type, family, partitioned=program.partitioned, version=program.version), tuple(steps)
    )


def _drawn(row: Mapping[str, Any], rank: int) -> dict[str, Any]:
    return {
        "id": row["id"], "city": row["city"], "rank": rank, "name": row["value"], "note": None, "size": None,
        "deleted": row["_hoodie_is_deleted"],
    }  # fmt: skip


class SeededReference(Reference):
    """The reference with a simulated clock and seeded ids: the same program gives the same bytes."""

    table: "WritableTable"

    def create(self, table: str, spec: TableSpec) -> None:
        """Create the only table."""
        from hudi_reference import create_table
        from hudi_reference.clock import ManualClock
        from hudi_reference.ids import SeededIds

        self.table = create_table(
            table, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, partition=spec.partition,
            ordering=spec.ordering, merge_mode=spec.merge_mode, table_type=spec.type, properties=dict(spec.properties),
            clock=ManualClock(1_767_225_600_000), ids=SeededIds(8),
        )  # fmt: skip

    def write(self, table: str, operation: Operation, rows: pa.Table, *, options: Mapping[str, str] | None = None) -> str:
        """Write one commit."""
        instant: str = getattr(self.table, operation)(rows)
        return instant

    def service(
        self, table: str, service: Service, *, phase: Phase = "run", instant: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> str | None:  # fmt: skip
        """Run one table service."""
        from hudi_conformance.engines.reference.services import Order, run

        return run(self.table, service, Order(phase, instant, options or {}))


def run_on_reference(program: everything.Program, uri: str) -> "ProgramRun":
    """Run the program on the reference and on the model."""
    from hudi_conformance.suite.support.program_runner import ProgramRun

    with Client("reference", lambda: InProcessTransport(SeededReference), start_timeout=30, message_timeout=120) as engine:
        driven = ProgramRun(program, uri, [engine])
        for step in program.steps:
            driven.take(step)
    return driven


def _reads(driven: "ProgramRun") -> dict[str, Any]:
    """Return every query that can be asked at the end, with the rows of the model."""
    types = driven.program.shape.types
    found = {json.dumps(q.query.to_json()): q for q in _questions(driven)}
    images = [{"name": name, "type": _image(name, driven.program.shape.stored_types)} for name in ("before", "after")]
    changes = [{"name": "op", "type": "string"}, {"name": "ts_ms", "type": "string"}, *images]
    declared = [{"name": n, "type": everything.AVRO_TYPES.get(t, t)} for n, t in types.items()]
    is_asked = any(question.query.kind == "cdc" for question in found.values())
    return {
        "columns": declared + (changes if is_asked else []),
        "key": ["id", "city"],
        "reads": [_read(number, question, driven) for number, question in enumerate(found.values(), 1)],
    }


def _questions(driven: "ProgramRun") -> "Iterator[Question]":
    """Yield the snapshot, the read-optimized query, every time, and every window between two actions; changes if they are
    captured.
    """
    kinds = [kind for kind in get_args(everything.Kind) if kind != "cdc" or driven.program.shape.captures is not None]
    for kind in kinds:
        places = range(len(driven.actions)) if kind in ("as-of", "incremental", "cdc") else range(1)
        seconds = places if kind in ("incremental", "cdc") else range(1)
        for question in (driven.question(DrawnQuery(kind, first, second)) for first in places for second in seconds):
            if question is not None:
                yield question


def _image(name: str, types: Mapping[str, str]) -> dict[str, Any]:
    fields = [{"name": n, "type": ["null", everything.AVRO_TYPES.get(t, t)], "default": None} for n, t in types.items()]
    return {"type": "record", "name": name, "namespace": "rows", "fields": fields}


def _read(number: int, question: "Question", driven: "ProgramRun") -> dict[str, Any]:
    """Return one query of the file."""
    shape, query = driven.program.shape, question.query
    if query.kind == "cdc":
        names = ["op", "ts_ms", "before", "after"]
        record = pa.struct([(n, everything.ARROW_TYPES[t]) for n, t in shape.stored_types.items()])
        schema = pa.schema([("op", pa.string()), ("ts_ms", pa.string()), ("before", record), ("after", record)])
        types = {"op": "string", "ts_ms": "string", **{name: _image(name, shape.stored_types) for name in ("before", "after")}}
        rows = canonical_rows(pa.Table.from_pylist(list(question.rows), schema=schema), types)
        query = Query("cdc", None, query.begin, query.end, columns=tuple(names))
    else:
        types = {name: everything.AVRO_TYPES.get(kind, kind) for name, kind in shape.types.items()}
        rows = canonical_rows(shape.arrow([{n: row.get(n) for n in types} for row in question.rows]), types)
    return {"name": f"{number}-{query.kind}", "query": query.to_json(), "rows": rows}


#: The rule behind each kind of query.
RULES = {
    "snapshot": "TYP-007", "read-optimized": "RDR-009", "as-of": "TYP-008", "incremental": "TYP-009", "cdc": "TYP-012",
}  # fmt: skip


def _case(program: everything.Program, case_id: str, driven: "ProgramRun") -> dict[str, Any]:
    kinds = {question.query.kind for question in _questions(driven)}
    mode = {"event-time": "MRG-028", "commit-time": "MRG-025", "custom": "PAY-003"}[program.shape.family]
    return {
        "id": case_id,
        "requirements": [mode, *(rule for kind, rule in RULES.items() if kind in kinds)],
        "description": f"A drawn program of {len(program.steps)} steps; program.json holds it.",
        "producer": {"engine": "reference", "recipe": "program.json"},
        "needs": sorted({*(f"read.{kind}" for kind in kinds), "read.projection", *_needs(program)}),
        "table": "table",
        "expected": {"reads": "expected/reads.json", "derived_by": ["model"]},
        "if_it_fails": "Follow the steps of program.json one by one; the first after which the rows differ names the rule.",
    }


def _needs(program: everything.Program) -> Iterator[str]:
    """Yield the features that an engine needs to read the table."""
    shape, actions = program.shape, {step.does for step in program.steps}
    yield from (f"merge.{shape.family}", "partition.plain" if shape.partitioned else "partition.none")
    yield "merge-on-read" if shape.type == "MERGE_ON_READ" else "copy-on-write"
    if shape.type == "MERGE_ON_READ":
        yield from ("log.avro", "log.delete")
    if any(row["deleted"] for step in program.steps for row in step.rows):
        yield "delete.flag"
    if shape.type == "MERGE_ON_READ" and "partial_update" in actions:
        yield "merge.partial-updates"
    if shape.two and shape.ordering:
        yield "merge.multiple-ordering-fields"
    if shape.orders in everything.FEATURE_OF_TYPE:
        yield everything.FEATURE_OF_TYPE[shape.orders]
    if "archive" in actions:
        yield "timeline.history"
    if shape.type == "MERGE_ON_READ" and actions & {"rollback", "restore"}:
        yield "log.command"


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
