"""The files of a case, generated from a recipe and the requested times of its table."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.recipes.catalogue import as_of_text
from tools.recipes.expectation import document, right_rows
from tools.recipes.query_series import reads_document
from tools.recipes.recipe import COW, MOR, Check, Producer, Recipe, Table
from tools.recipes.timeline_summary import timeline_of

from hudi_conformance.cases.table_versions import serves_both_versions
from hudi_conformance.engines.support.columns import META_COLUMNS
from hudi_conformance.requirements.requirement import VERSIONS

#: Steps that write delete blocks to log files of a merge-on-read table.
DELETING = {"delete", "sql_delete"}
#: The oldest table version of the suite, which needs no feature.
OLDEST = 8
#: Operators of a filter that need a feature of their own.
FILTERS = {"in": "read.filter.in", "is": "read.filter.null", "is not": "read.filter.null", "starts with": "read.filter.prefix"}
LOG_FORMATS = {"parquet": "log.parquet", "hfile": "log.hfile"}


def checks_for(recipe: Recipe, producer: Producer) -> list[Check]:
    """The checks of the table of `producer`."""
    return [check for check in recipe.checks if check.only is None or producer in check.only]


def case_files(
    recipe: Recipe, producer: Producer, instants: Sequence[str], table: Path
) -> Iterator[tuple[str, dict[str, bytes]]]:
    """The folder name and the files of each check, without the table and the answers of the producer."""
    checks = checks_for(recipe, producer)
    home = recipe.case_name(checks[0], producer)
    for check in checks:
        name = recipe.case_name(check, producer)
        files = {"case.json": case_json(recipe, check, producer, instants, home, table)}
        if check.windows:
            files["expected/reads.json"] = reads_document(recipe, check, instants, table)
        elif check.timeline:
            files["expected/inspect.json"] = {"timeline": timeline_of(table)}
        elif check.has_rows:
            files["expected/rows.json"] = document(recipe, check, right_rows(recipe, check, instants))
            for number, rows in enumerate(check.accept, 1):
                files[f"expected/also-right-{number}.json"] = document(recipe, check, rows)
        if name == home:
            files["made.json"] = {"producer": producer, "requested_times": list(instants)}
        yield name, {path: series_json(content) if "reads" in content else to_json(content) for path, content in files.items()}


def to_json(content: Any) -> bytes:
    """Deterministic JSON with indentation."""
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def series_json(content: Any) -> bytes:
    """A series of queries as JSON, one per line."""
    columns, *reads = (json.dumps(part, ensure_ascii=False) for part in (content["columns"], *content["reads"]))
    return ('{"columns": ' + columns + ',\n "reads": [\n  ' + ",\n  ".join(reads) + "\n]}\n").encode()


def case_json(
    recipe: Recipe, check: Check, producer: Producer, instants: Sequence[str], home: str, table: Path
) -> dict[str, Any]:
    """The content of `case.json`."""
    name = recipe.case_name(check, producer)
    optional = {"flags": list(check.flags), "errata": list(check.errata)}
    return {
        "id": f"{recipe.area}.{name}",
        "requirements": list(check.requirements),
        "description": check.says,
        "producer": producer_json(recipe, producer),
        "needs": sorted(needs(recipe, check)),
        **_versions(recipe.table, table),
        **{key: value for key, value in optional.items() if value},
        "table": "table" if name == home else f"../{home}/table",
        **({} if check.timeline or check.windows else {"query": query_json(check, instants)}),
        "expected": expected_json(check),
        "if_it_fails": check.if_it_fails,
    }


def _versions(table: Table, folder: Path) -> dict[str, list[int]]:
    """The versions of the case, unless it is about the oldest one alone."""
    if table.version != OLDEST:
        return {"versions": [table.version]}
    return {"versions": list(VERSIONS)} if serves_both_versions(folder) else {}


def producer_json(recipe: Recipe, producer: Producer) -> dict[str, str]:
    """The producer of the table, and how to regenerate it."""
    engine, _, version = producer.partition("@")
    found = {"engine": engine, "version": version, "recipe": recipe.source}
    if recipe.note:
        found["note"] = recipe.note
    return {key: value for key, value in found.items() if value}


def query_json(check: Check, instants: Sequence[str]) -> dict[str, Any]:
    """The query in the form of the contract."""
    query: dict[str, Any] = {"kind": check.kind}
    if check.as_of is not None:
        query["as_of"] = as_of_text(check.as_of, instants)
    if check.columns is not None:
        query["columns"] = list(check.columns)
    if check.where:
        query["where"] = [list(condition) for condition in check.where]
    return query


def expected_json(check: Check) -> dict[str, Any]:
    """The file with the right answer, or the kind of refusal or error that is right."""
    found: dict[str, Any] = {}
    if check.windows:
        found |= {"reads": "expected/reads.json", "derived_by": ["model"]}
    if check.timeline:
        found |= {"inspect": "expected/inspect.json", "derived_by": ["file names"]}
    if check.refused is not None:
        found["refused"] = check.refused
    if check.error is not None:
        found["error"] = check.error
    if check.has_rows:
        found["rows"] = "expected/rows.json"
        if check.accept:
            found["accept"] = [f"expected/also-right-{n}.json" for n, _ in enumerate(check.accept, 1)]
        found["derived_by"] = ["model" if check.rows is None else "hand"]
    if check.or_error:
        found["or_error"] = True
    return {**found, "open": True} if check.open else found


def needs(recipe: Recipe, check: Check) -> set[str]:
    """The features that the query needs."""
    table = recipe.table
    if check.timeline:
        return {"inspect.table", *check.needs, *_version_needs(table, check)}
    found = {f"read.{check.kind}", *recipe.needs, *check.needs, *_partition_needs(table), *_type_needs(table)}
    found |= _version_needs(table, check)
    found.add("copy-on-write" if table.type == COW else "merge-on-read")
    if table.type == MOR and check.kind != "read-optimized" and check.refused is None and check.error is None:
        found |= _log_needs(recipe)
    if check.where:
        found |= {"read.filter"} | {FILTERS[operator] for _, operator, _ in check.where if operator in FILTERS}
    if check.columns is not None:
        found.add("read.meta-columns" if set(check.columns) & set(META_COLUMNS) else "read.projection")
    if len(table.record_key) > 1:
        found.add("key.complex")
    return found


def _version_needs(table: Table, check: Check) -> set[str]:
    """The feature of a version after the oldest one; a table that is refused for its version is refused by every engine."""
    return set() if table.version == OLDEST or check.refused == "table-version" else {f"table-version.{table.version}"}


def _log_needs(recipe: Recipe) -> set[str]:
    later = recipe.steps[1:]
    if not any(step.rows for step in later):
        return set()
    found = {recipe.table.merge_feature}
    formats = [step.options.get("hoodie.logfile.data.block.format") for step in later if step.kind == "upsert"]
    found |= {LOG_FORMATS.get(name or "", "log.avro") for name in formats}
    if any(step.kind in DELETING or any(row.get("_hoodie_is_deleted") for row in step.rows) for step in later):
        found.add("log.delete")
    if len(recipe.table.ordering) > 1:
        found.add("merge.multiple-ordering-fields")
    return found


def _partition_needs(table: Table) -> set[str]:
    if not table.partition:
        return {"partition.none"}
    found = {"partition.hive" if table.hive_style else "partition.plain"}
    if table.url_encode:
        found.add("partition.url-encoded")
    if len(table.partition) > 1:
        found.add("partition.several-levels")
    return found


def _type_needs(table: Table) -> set[str]:
    kinds: Mapping[str, bool] = {
        "types.nested": any(isinstance(kind, dict) for _, kind in table.columns),
        "types.decimal": any(str(kind).startswith("decimal") for _, kind in table.columns),
        "types.temporal": any(kind in ("date", "timestamp-micros") for _, kind in table.columns),
    }
    return {feature for feature, needed in kinds.items() if needed}


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write `files` below `folder`."""
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
