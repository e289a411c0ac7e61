"""The actions of a drawn table, and the queries that it is asked."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.drawn_tables.changing import filters_of
from tools.drawn_tables.drawing import Drawn

from hudi_conformance.contract import Query

WRITES = ("commit", "deltacommit", "replacecommit")


def completed_actions(timeline: Path) -> set[tuple[str, str, str]]:
    """Requested time, action and completion time of what is on an active timeline; version 6 stores no completion time."""
    names = [file.name for file in timeline.iterdir()] if timeline.is_dir() else []
    stems = [name.partition(".") for name in names if name[:1].isdigit() and name.count(".") == 1]
    if timeline.name != ".hoodie":
        stems = [one for one in stems if "_" in one[0]]
    return {(stem.partition("_")[0], action, stem.partition("_")[2]) for stem, _, action in stems if action != "inflight"}


def queries_of(drawn: Drawn, done: Sequence[Mapping[str, Any]]) -> Iterator[Query]:
    """The queries of a table."""
    columns = tuple(name for name, _ in drawn.columns_after(done))
    yield Query(columns=columns)
    yield Query(columns=columns[::2], where=(("n", ">", 3),))
    yield Query(columns=("id", "b"), where=(("a", "=", "plain"), ("b", "!=", "v1")))
    yield Query(columns=("n", "id"), where=(("id", "in", ("a", "d:1")),))
    name = (*drawn.recipe.table.partition_columns, "")[0]
    if name in columns:
        value = drawn.recipe.steps[0].rows[0][name]
        if value is not None:
            yield Query(columns=("id", name, "b"), where=((name, "=", value if isinstance(value, int | str) else str(value)),))
    if drawn.axes["index"] == "changing":
        yield from filters_of(drawn)
    yield Query("read-optimized", columns=columns)
    times = [(requested, completion) for one in done for requested, action, completion in one["new"] if action in WRITES]
    stored = {name for name, _ in drawn.recipe.table.columns}
    for requested, _ in times:
        yield Query("as-of", as_of=requested, columns=tuple(name for name in columns if name in stored))
    ends = [completion for _, completion in times]
    windows = [(None, None), *((ends[n], None) for n in range(len(ends) - 1)), *zip(ends, ends[2:], strict=False)]
    for begin, end in windows:
        yield Query("incremental", begin=begin, end=end, columns=columns)
        if drawn.axes["capture"] != "none":
            yield Query("cdc", begin=begin, end=end)
