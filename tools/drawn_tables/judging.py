"""Compares the three answers to each query of a drawn table."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import feather
from tools.drawn_tables.drawing import Drawn
from tools.drawn_tables.questions import WRITES
from tools.recipes.column_types import arrow_schema, declared
from tools.recipes.recipe import COW, Step

from hudi_conformance.cases.rows import canonical_rows, compare_rows
from hudi_conformance.contract import Query
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.model import Model
from hudi_conformance.model.windows import Window, change_rows, incremental_rows

Answer = Any
Change = tuple[str, str, str, Any]
#: The types of the values in images of changes that are compared.
_PLAIN = ("string", "int", "long")
#: Why the answer to a query is unknown: the model knows neither cleaned files nor pending writes.
_UNKNOWN = ("were cleaned", "until a clean deletes", "is still pending")


class MovingModel(Model):
    """A model of a table with a global index that moves records: a record is found by its key alone."""

    def partition_of(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """The same for every row."""
        return ()


def changes_of(drawn: Drawn, steps: list[Mapping[str, Any]]) -> list[Change]:
    """The changes of the steps that completed: requested and completion time, operation of the model, rows."""
    changes: list[Change] = []
    for step, done in zip(drawn.recipe.steps, steps, strict=True):
        writes = [one for one in done["new"] if one[1] in WRITES]
        if step.kind in ("rollback", "restore") and done["error"] is None and step.of is not None:
            changes = _without(changes, step.kind, [one[0] for one in steps[step.of]["new"] if one[1] in WRITES][:1])
        if step.modelled not in ("nothing", "compact") and writes:
            # The compaction of an upgrade is before the write.
            own = next((one for one in writes if drawn.recipe.table.type == COW or one[1] != "commit"), writes[0])
            writes.remove(own)
            changes += _of_step(drawn, step, own, changes)
        changes += [(requested, completion, "compact", ()) for requested, action, completion in writes
                    if action != "deltacommit"]  # fmt: skip
    return changes


def model_of(drawn: Drawn, changes: Sequence[Change]) -> Model:
    """The model after these changes."""
    table, merging = drawn.recipe.table, drawn.merging
    model = (MovingModel if drawn.moves else Model)(
        record_key=table.record_key, partition=table.partition_columns, ordering=merging.compared,
        merge_mode=merging.effective_mode, table_type=table.type, partial_update_mode=merging.partial,  # type: ignore[arg-type]
        delete_marker=merging.marker, has_buckets=table.options.get("hoodie.index.type") == "BUCKET",
    )  # fmt: skip
    for requested, completion, operation, rows in in_order(changes):
        model.apply(operation, rows, requested, completion)  # type: ignore[arg-type]
    return model


def in_order(changes: Sequence[Change]) -> list[Change]:
    """The changes in the order in which they are merged: by requested time, but a write that completes after a compaction was
    requested is merged into the files of the compaction.
    """
    compactions = [requested for requested, _, operation, _ in changes if operation == "compact"]

    def place(change: Change) -> tuple[str, bool, str]:
        requested, completion, operation, _ = change
        before = [one for one in compactions if one <= (requested if operation == "compact" else completion)]
        return max(before, default=""), operation != "compact", requested

    return sorted(changes, key=place)


def _without(changes: list[Change], kind: str, instants: list[str]) -> list[Change]:
    """The changes that a rollback or restore leaves."""
    if not instants:
        return changes
    return [one for one in changes if (one[0] != instants[0] if kind == "rollback" else one[0] <= instants[0])]


def _of_step(drawn: Drawn, step: Step, own: tuple[str, str, str], before: list[Change]) -> Iterator[Change]:
    """The changes of a write: its rows with the latest names of columns; before them all partitions go if it replaces all."""
    requested, _, completion = own
    rows = tuple({drawn.renames.get(name, name): value for name, value in row.items()} for row in step.rows)
    if step.kind == "insert_overwrite_table":
        yield requested, completion, "delete_partition", tuple(row for *_, given in before for row in given)
        yield requested, completion, "insert", rows
    else:
        yield requested, completion, step.modelled, rows


class Judge:
    """The answers of one table."""

    def __init__(self, drawn: Drawn, folder: Path) -> None:
        self.drawn, self.folder = drawn, folder
        self.made = json.loads((folder / "made.json").read_text())
        self.changes = changes_of(drawn, self.made["steps"])
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
            if isinstance(reference, str) and not isinstance(hudi, list) and any(one in reference for one in _UNKNOWN):
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

    def _model(self, counts: Callable[[Change], bool]) -> Model:
        """The model after the changes that count at the time of a query; files of later compactions are not read."""
        return model_of(self.drawn, [change for change in self.changes if counts(change)])

    @property
    def _has_global_index(self) -> bool:
        kinds = ("GLOBAL_RECORD_LEVEL_INDEX", "RECORD_INDEX")
        return self.drawn.moves or self.drawn.recipe.table.options.get("hoodie.index.type") in kinds

    def _rows(self, query: Query) -> Any:
        window = Window(query.begin, query.end)
        if query.kind in ("incremental", "cdc") and self._has_global_index:
            return None  # such an index stores the row that won again, as a new change
        match query.kind:
            case "snapshot":
                return self._model(lambda change: True).snapshot()
            case "as-of":
                then = query.as_of or ""
                return self._model(lambda change: change[0] <= then).as_of(then)
            case "incremental":
                return incremental_rows(self._model(lambda change: query.end is None or change[1] <= query.end), window)
            case "cdc" if all(step.kind != "insert_overwrite_table" for step in self.drawn.recipe.steps):
                return change_rows(self._model(lambda change: True), window)
        return None

    def _canonical(self, query: Query, answer: Any) -> Answer:
        if answer is None or isinstance(answer, str):
            return answer
        if query.kind == "cdc":
            rows = answer if isinstance(answer, list) else self._plain(answer).to_pylist()
            return sorted(({"change": repr((row["op"], row["ts_ms"], self._image(row["before"]), self._image(row["after"])))}
                          for row in rows), key=str)  # fmt: skip
        types = {name: self.types[name] for name in query.columns or self.types}
        if missing := [name for name in types if name not in answer.column_names]:
            return f"no column {missing}"
        return sorted(canonical_rows(answer, types), key=lambda row: json.dumps(row, sort_keys=True, default=str))

    def _plain(self, changes: pa.Table) -> pa.Table:
        """Changes with only the fields of images that are compared: others may have values that Python does not have."""
        for place, name in enumerate(changes.column_names):
            images = changes.column(name)
            if pa.types.is_struct(images.type):
                kept = [field for field in images.type if self.types.get(field.name) in _PLAIN]
                chunks = [
                    pa.StructArray.from_arrays([pc.struct_field(one, f.name) for f in kept], fields=kept, mask=one.is_null())
                    for one in images.chunks
                ]
                changes = changes.set_column(place, name, pa.chunked_array(chunks, pa.struct(kept)))
        return changes

    def _image(self, row: Any) -> Any:
        return None if row is None else tuple(row.get(name) for name, kind in self.types.items() if kind in _PLAIN)


def _holds(row: Mapping[str, Any], condition: tuple[str, str, Any]) -> bool:
    column, operator, value = condition
    found = row.get(column)
    if found is None:
        return False
    if not isinstance(found, int | float | str):
        found = str(found)
    return bool({"=": found == value, "!=": found != value, ">": operator == ">" and found > value,
                 "in": operator == "in" and found in value}[operator])  # fmt: skip
