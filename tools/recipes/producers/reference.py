"""Run recipes on the reference with a fixed clock and fixed ids, so that a recipe always writes the same bytes."""

import re
import shutil
import warnings
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
from tools.recipes.column_types import arrow_schema, avro_record
from tools.recipes.recipe import Recipe, Step
from tools.recipes.table_edits import strip

from hudi_reference import WritableTable, compact, create_index, create_table, log_compact, migrate, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.records.mergers.sample_mergers import SAMPLE_MERGERS
from hudi_reference.write.write_context import LogOptions

#: 2026-01-01T00:00:00Z. Each reading of the clock is a second later than the one before.
START = 1767225600000
#: Prefixes of the settings that are properties of the table.
STORED = ("hoodie.table.", "hoodie.record.merge.")
#: A named index of a column, as the recipes state it.
CREATE_INDEX = re.compile(r"CREATE INDEX (?P<name>\w+) ON \{table\} \((?P<column>\w+)\)")
SERVICES: dict[str, Callable[[WritableTable], str | None]] = {
    "compact": compact, "client_compact": compact, "log_compact": log_compact,
}  # fmt: skip
#: Steps with another name than the operation of the reference.
WRITES = {"merge_into": "partial_update"}


def make(recipe: Recipe, out: Path) -> list[str]:
    """Write the table of `recipe` to `out/<name>/table`; return the requested time of each step."""
    folder = out / recipe.name / "table"
    shutil.rmtree(folder, ignore_errors=True)
    table, name = recipe.table, recipe.name.replace("-", "_").replace(".", "_")
    clock, ids = ManualClock(START, 1000), SeededIds(zlib.crc32(recipe.name.encode()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # recipes name deprecated payload classes on purpose
        made = create_table(
            folder.as_uri(),
            name=name,
            schema=avro_record(name, table.columns),
            record_key=table.record_key,
            partition=table.partition,
            table_type=table.type,
            ordering=table.ordering,
            merge_mode=table.merge_mode,
            version=_version_of(recipe.steps[0], table.options) or table.version,
            hive_style=table.hive_style,
            url_encode=table.url_encode,
            properties={key: value for key, value in table.options.items() if key.startswith(STORED)},
            options={**table.options, **recipe.steps[0].options},
            mergers=SAMPLE_MERGERS,
            clock=clock,
            ids=ids,
        )
        instants = []
        for step in recipe.steps:
            version = 8 if step.kind == "downgrade" else _version_of(step)
            if version is not None:
                migrate(made.uri, version=version, clock=clock, ids=ids)
                made = open_table(made.uri, mergers=SAMPLE_MERGERS, options=table.options, clock=clock, ids=ids)
            instants.append("" if step.kind == "downgrade" else _act(made, recipe, step))
    strip(folder)
    for edit in recipe.edits:
        edit(folder, instants)
    strip(folder)
    return instants


def _version_of(step: Step, options: Mapping[str, str] = MappingProxyType({})) -> int | None:
    """The table version that a step, or the options of its table, name."""
    named = {**options, **step.options}.get("hoodie.write.table.version")
    return None if named is None else int(named)


def _act(table: WritableTable, recipe: Recipe, step: Step) -> str:
    if step.kind in SERVICES:
        instant = SERVICES[step.kind](table)
        assert instant is not None, f"{step.kind} of {recipe.name} found nothing to do"
        return instant
    if step.kind == "create_index":
        named = CREATE_INDEX.fullmatch(step.statement or "")
        assert named is not None, f"the reference makes indexes of columns only: {step.statement}"
        return create_index(table, named["name"], named["column"])
    columns = step.columns or recipe.table.columns
    if step.kind == "delete":
        named = {*recipe.table.record_key, *recipe.table.partition}
        columns = tuple(column for column in columns if column[0] in named)
    if step.kind == "merge_into":
        columns = tuple(column for column in columns if column[0] in step.rows[0])
    write: Callable[..., str] = getattr(table, WRITES.get(step.kind, step.kind))
    logs = LogOptions.from_properties({**recipe.table.options, **step.options})
    more = {"logs": logs} if step.kind in ("upsert", "delete") else {}
    return write(pa.Table.from_pylist([dict(row) for row in step.rows], schema=arrow_schema(columns)), **more)
