"""Compares the three answers to each query of a drawn table."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import feather
from tools.drawn_tables.drawing import Drawn
from tools.drawn_tables.questions import WRITES
from tools.recipes.column_types import arrow_schema, declared

from hudi_conformance.cases.rows import canonical_rows, compare_rows
from hudi_conformance.contract import Query
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.model import Model
from hudi_conformance.model.windows import Window, change_rows, incremental_rows

Answer = Any


def model_of(drawn: Drawn, steps: list[Mapping[str, Any]]) -> Model:
    """The model after the steps that completed, in the order of their requested times."""
    table, merging = drawn.recipe.table, drawn.merging
    model = Model(
        record_key=table.record_key, partition=table.partition_columns, ordering=merging.compared,
        merge_mode=merging.effective_mode, table_type=table.type, partial_update_mode=merging.partial,  # type: ignore[arg-type]
        delete_marker=merging.marker,
    )  # fmt: skip
    changes: list[tuple[str, str, str, Any]] = []
    for step, done in zip(drawn.recipe.steps, steps, strict=True):
        writes = [one for one in done["new"] if one[1] in WRITES]
        if step.kind in ("rollback", "restore") and done["error"] is None and step.of is not None:
            instant = steps[step.of]["new"][0][0]
            changes = [one for one in changes if (one[0] != instant if step.kind == "rollback" else one[0] <= instant)]
        if step.modelled not in ("nothing", "compact") and writes:
            requested, _, completion = writes.pop(0)
            changes.append((requested, completion, step.modelled, step.rows))
        changes += [(requested, completion, "compact", ()) for requested, action, completion in writes
                    if action != "deltacommit"]  # fmt: skip
    for requested, completion, operation, rows in sorted(changes, key=lambda one: one[0]):
        model.apply(operation, rows, requested, completion)  # type: ignore[arg-type]
    return model


class Judge:
    """The answers of one table."""

    def __init__(self, drawn: Drawn, folder: Path) -> None:
        self.drawn, self.folder = drawn, folder
        self.made = json.loads((folder / "made.json").read_text())
        self.model = model_of(drawn, self.made["steps"])
        self.reference = Reference()
        self.types = {name: declared(kind, name) for name, kind in drawn.columns}

    def differences(self) -> Iterator[str]:
        """One line for each query whose three answers are not the same."""
        for number, asked in enumerate(self.made["asked"]):
            query = Query.from_json(asked["query"])
            answered = self.folder / f"answer-{number}.arrow"
            hudi = self._canonical(query, asked.get("error") or (feather.read_table(answered) if answered.is_file() else None))
            reference = self._canonical(query, self._read(query))
            model = self._canonical(query, self._modelled(query))
            said = [("model", model), ("hudi", hudi), ("reference", reference)]
            if isinstance(reference, str) and "were cleaned" in reference and not isinstance(hudi, list):
                continue
            groups: dict[str, list[str]] = {}
            for who, answer in said:
                if answer is not None:
                    groups.setdefault(json.dumps(answer, sort_keys=True, default=str, ensure_ascii=False), []).append(who)
            if len(groups) > 1:
                yield self._told(number, query, dict(said))

    def _told(self, number: int, query: Query, answers: Mapping[str, Answer]) -> str:
        lines = [f"  {number} {json.dumps(query.to_json(), ensure_ascii=False)[:300]}"]
        right = answers["model"] if answers["model"] is not None else answers["hudi"]
        for who, answer in answers.items():
            if isinstance(answer, str) or isinstance(right, str):
                lines.append(f"    {who}: {answer if isinstance(answer, str) else f'{len(answer or ())} rows'}"[:400])
            elif answer is not None and answer != right:
                found = compare_rows(right, answer)
                lines.append(f"    {who}: {found.summary()}"[:300])
                lines += [f"      - {left}\n      + {found}"[:1200] for left, found in list(found.pairs())[:3]]
        return "\n".join(lines)

    def _read(self, query: Query) -> pa.Table | str:
        try:
            return self.reference.read((self.folder / "table").absolute().as_uri(), query)
        except ContractError as error:
            return f"{type(error).__name__}: {error}".replace("\n", " ")
        except Exception as error:
            return f"CRASH {type(error).__name__}: {error}".replace("\n", " ")

    def _modelled(self, query: Query) -> pa.Table | None:
        try:
            rows = self._rows(query)
        except (ValueError, AssertionError):
            return None
        if rows is None or query.kind == "cdc":
            return rows
        chosen = [row for row in rows if all(_holds(row, one) for one in query.where)]
        columns = [one for one in self.drawn.columns if one[0] in (query.columns or self.types)]
        rows = [{name: row.get(name) for name, _ in columns} for row in chosen]
        return pa.Table.from_pylist(rows, schema=arrow_schema(columns))

    def _rows(self, query: Query) -> Any:
        match query.kind:
            case "snapshot":
                return self.model.snapshot()
            case "as-of":
                return self.model.as_of(query.as_of or "")
            case "incremental":
                return incremental_rows(self.model, Window(query.begin, query.end))
            case "cdc":
                return change_rows(self.model, Window(query.begin, query.end))
        return None

    def _canonical(self, query: Query, answer: Any) -> Answer:
        if answer is None or isinstance(answer, str):
            return answer
        if query.kind == "cdc":
            rows = answer if isinstance(answer, list) else answer.to_pylist()
            return sorted(({"change": repr((row["op"], row["ts_ms"], self._image(row["before"]), self._image(row["after"])))}
                          for row in rows), key=str)  # fmt: skip
        types = {name: self.types[name] for name in query.columns or self.types}
        if missing := [name for name in types if name not in answer.column_names]:
            return f"no column {missing}"
        return sorted(canonical_rows(answer, types), key=lambda row: json.dumps(row, sort_keys=True, default=str))

    def _image(self, row: Any) -> Any:
        plain = ("string", "int", "long")
        return None if row is None else tuple(row.get(name) for name, kind in self.types.items() if kind in plain)


def _holds(row: Mapping[str, Any], condition: tuple[str, str, Any]) -> bool:
    column, operator, value = condition
    found = row.get(column)
    if found is None:
        return False
    if not isinstance(found, int | float | str):
        found = str(found)
    return bool({"=": found == value, "!=": found != value, ">": operator == ">" and found > value,
                 "in": operator == "in" and found in value}[operator])  # fmt: skip
