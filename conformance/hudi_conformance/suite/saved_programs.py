"""A drawn program that an engine failed, kept as a golden case: the shrunk program becomes a table and its right rows."""

import dataclasses
import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hudi_conformance.suite.programs_of_writes import TYPES, Program, Step, as_arrow


def to_json(program: Program) -> dict[str, Any]:
    """The program as a JSON value."""
    return dataclasses.asdict(program)


def from_json(value: Mapping[str, Any]) -> Program:
    """The program in a JSON value of `to_json`."""
    steps = tuple(Step(step["operation"], tuple(step["rows"])) for step in value["steps"])
    return Program(value["type"], value["merge_mode"], value["partitioned"], steps)


def save(program: Program) -> str:
    """Keep the program in a file; a line that says how it becomes a case."""
    text = json.dumps(to_json(program), indent=1, sort_keys=True)
    folder = Path(tempfile.gettempdir()) / "hudi-conformance-programs"
    folder.mkdir(exist_ok=True)
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    path.write_text(text + "\n")
    return f"keep it as a golden case: hudi-conformance fixtures add {path} --id merge.drawn.NAME"


def add_case(program: Program, case_id: str, root: Path) -> Path:
    """Write the case of a program below the fixtures `root`; its folder.

    The reference makes the table (the same bytes each time), the model says which rows are right.
    """
    from hudi_conformance.rows import canonical
    from hudi_reference import create_table
    from hudi_reference.clock import ManualClock
    from hudi_reference.ids import SeededIds

    area, _, name = case_id.partition(".")
    folder = root / area / name
    spec, model = program.spec(), program.model()
    table = create_table(
        (folder / "table").as_uri(),
        name=spec.name,
        schema=dict(spec.schema),
        record_key=spec.record_key,
        partition=spec.partition,
        ordering=spec.ordering,
        merge_mode=spec.merge_mode,
        table_type=spec.type,
        clock=ManualClock(1_767_225_600_000),
        ids=SeededIds(8),
    )
    for step in program.steps:
        getattr(table, step.operation)(as_arrow(step.rows))
        model.apply(step.operation, step.rows)
    rows = {
        "columns": [{"name": column, "type": kind} for column, kind in TYPES.items()],
        "rows": canonical(as_arrow(model.snapshot()), TYPES),
        "key": ["id", "city"],
    }
    _write(folder / "expected" / "rows.json", rows)
    _write(folder / "case.json", _case(program, case_id))
    _write(folder / "program.json", to_json(program))
    return folder


def _case(program: Program, case_id: str) -> dict[str, Any]:
    merge_on_read = program.type == "MERGE_ON_READ"
    mode = "merge.event-time" if program.merge_mode == "EVENT_TIME_ORDERING" else "merge.commit-time"
    return {
        "id": case_id,
        "requirements": ["MRG-028" if mode == "merge.event-time" else "MRG-025", "TYP-007"],
        "description": f"A drawn program of {len(program.steps)} writes; program.json holds it.",
        "producer": {"engine": "reference", "recipe": "program.json"},
        "needs": sorted(
            {"read.snapshot", "read.projection", mode, "merge-on-read" if merge_on_read else "copy-on-write", "delete.flag"}
            | ({"log.avro", "log.delete"} if merge_on_read else set())
            | {"partition.plain" if program.partitioned else "partition.none"}
        ),
        "table": "table",
        "query": {"kind": "snapshot", "columns": list(TYPES)},
        "expected": {"rows": "expected/rows.json", "derived_by": ["model"]},
        "if_it_fails": "Follow the writes of program.json one by one; the first after which the rows differ names the rule.",
    }


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
