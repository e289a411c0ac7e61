"""The options of the format `hudi-reference`: Hudi's own names and ours, read into the arguments of `hudi_spark.read`.

An option that is not known is an error, because a query that ignores `as.of.instant` would answer with other rows.
"""

import json
from collections.abc import Mapping
from typing import Any

from hudi_reference.errors import InvalidQuery, Misuse, UnsupportedTableFeature
from hudi_reference.query.pruning.predicates import Comparison
from hudi_reference.services.setting_names import check_known
from hudi_reference.settings import boolean_setting

QUERY_TYPE, FORMAT = "hoodie.datasource.query.type", "hoodie.datasource.query.incremental.format"
AS_OF = "as.of.instant"
BEGIN, END = "hoodie.datasource.read.begin.instanttime", "hoodie.datasource.read.end.instanttime"
SCHEMA_ON_READ = "hoodie.schema.on.read.enable"

#: Option -> argument of `make_plan`.
_ARGUMENTS = {
    "query": "query",
    "as_of": "as_of", AS_OF: "as_of",
    "begin": "begin", BEGIN: "begin",
    "end": "end", END: "end",
    "include_begin": "include_begin",
    "schema_on_read": "schema_on_read", SCHEMA_ON_READ: "schema_on_read",
    "columns": "columns",
    "where": "where",
}  # fmt: skip
#: Options that choose how a query is executed; the rows are the same, so they have no effect here.
_WITHOUT_EFFECT = (
    "hoodie.metadata.enable", "hoodie.enable.data.skipping", "hoodie.file.index.enable",
    "hoodie.file.group.reader.enabled", "hoodie.datasource.read.use.new.parquet.file.format",
)  # fmt: skip
#: Options that Spark adds when it creates a table of its catalog.
_OF_CATALOG = frozenset({"owner", "serialization.format", "external", "location"})
#: Names in Hudi's option of query types.
_TYPES = {"snapshot": "snapshot", "read_optimized": "read-optimized", "incremental": "incremental"}
_FORMATS = {"latest_state": "incremental", "cdc": "cdc"}
#: Texts that mean the time before the first write: 1.0.2 and 1.2.0 take 000, the table function `hudi_table_changes` earliest.
_EARLIEST = ("000", "earliest")
#: All names for reading, without `path`.
READING = (*_ARGUMENTS, QUERY_TYPE, FORMAT, *_WITHOUT_EFFECT)


def path_of(options: Mapping[str, str]) -> str:
    """The table's URI. Raises Misuse."""
    if options.get("paths"):
        raise Misuse("several paths", rule="LAY-001", expected="the base path of one table", found=options["paths"])
    if not options.get("path"):
        raise Misuse(
            "the option path is missing", rule="LAY-001", expected="option path, or load(path)",
            remedy="if this is a table of Spark's catalog, drop it: Spark reads such tables without their options; "
            "use hudi_spark.create_view",
        )  # fmt: skip
    return options["path"]


def read_arguments(options: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of `make_plan` that options mean.

    `begin` is exclusive as in Hudi 1.1 and later; `include_begin=true` includes it, as 1.0.2 does. Without `query` or
    `hoodie.datasource.query.type` the other options decide: a time is an as-of query, a bound an incremental one.

    Raises Misuse for an unknown option or a flag that is no boolean, InvalidQuery for options that contradict each other.
    """
    given = {name.lower(): value for name, value in options.items() if name.lower() not in ("path", "paths")}
    if not _OF_CATALOG.isdisjoint(given):
        raise UnsupportedTableFeature(
            "the format is not for tables of Spark's catalog: Spark would read them without their options", rule="LAY-001",
            found="CREATE TABLE", remedy="hudi_spark.create_view, or CREATE TEMPORARY VIEW ... USING `hudi-reference`",
        )  # fmt: skip
    check_known(given, READING)
    found: dict[str, Any] = {}
    for name, value in given.items():
        if (argument := _ARGUMENTS.get(name)) is not None and found.setdefault(argument, value) != value:
            both = f"{found[argument]}, {value}"
            raise InvalidQuery("two options contradict each other", expected=f"one {argument}", found=both)
    for flag in ("include_begin", "schema_on_read"):
        if flag in found:
            found[flag] = boolean_setting(found, flag)
    if "columns" in found:
        found["columns"] = [name.strip() for name in found["columns"].split(",") if name.strip()]
    if "where" in found:
        found["where"] = _comparisons(found["where"])
    if found.get("begin") in _EARLIEST:
        found["begin"] = None  # the window is still that of an incremental query
    _name_query(found, given)
    return found


def _name_query(found: dict[str, Any], given: Mapping[str, str]) -> None:
    """Add the kind of the query."""
    said = given.get(QUERY_TYPE)
    if said is not None and said.lower() not in _TYPES:
        raise InvalidQuery("unknown query type", rule="TYP-016", expected=", ".join(_TYPES), found=said)
    form = given.get(FORMAT, "latest_state").lower()
    if form not in _FORMATS:
        raise InvalidQuery("unknown format of incremental queries", expected=", ".join(_FORMATS), found=form)
    has_window = "begin" in found or "end" in found
    implied = "as-of" if found.get("as_of") is not None else _FORMATS[form] if has_window else "snapshot"
    if said is not None:
        kind = _TYPES[said.lower()]
        kind = _FORMATS[form] if kind == "incremental" else implied if (kind, implied) == ("snapshot", "as-of") else kind
        if found.setdefault("query", kind) != kind:
            both = f"{found['query']}, {said}"
            raise InvalidQuery("two options contradict each other", expected="one kind of query", found=both)
    found.setdefault("query", implied)
    if form == "cdc" and found["query"] != "cdc":
        expected = f"{QUERY_TYPE}=incremental"
        raise InvalidQuery("only an incremental query has changes", expected=expected, found=found["query"])


def _comparisons(text: str) -> list[Comparison]:
    """The comparisons in a JSON list, as `[["city", "=", "rome"]]`. Raises InvalidQuery."""
    try:
        return [(str(name), str(operator), value) for name, operator, value in json.loads(text)]
    except (ValueError, TypeError) as error:
        expected = '[["city", "=", "rome"], ["ts", ">", 1]]'
        raise InvalidQuery("the filters are not a list of comparisons", expected=expected, found=text) from error
