"""Sound tables with default settings, validated: `python -m tools.default_tables.sound [--version V] [--table-version N]
[--only NAME]… FOLDER`.

Apache Hudi makes each table step by step: writes, failed writes, and calls of its services. After each step the table is
copied to FOLDER and validated with all checks. A finding of wrong answers or lost data in such a table is a false finding, or a
fault of Apache Hudi. Exit code 1 if there is one. `--again` only validates the copies in FOLDER.
"""

import argparse
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tools.default_tables.__main__ import MAKERS, start_engine
from tools.default_tables.kinds import (
    CHANGED,
    COW,
    KINDS,
    MADE,
    RECORD_INDEX,
    TEN,
    Kind,
    Write,
    make_row,
)

from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.checks.finding import UNSOUND
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate

#: A statement of Spark SQL; {table} is the table, {first} and {last} the requested times of its first and last write.
Call = str


@dataclass(frozen=True)
class Fails:
    """A write that fails on the executor."""

    write: Write


@dataclass(frozen=True)
class Program:
    """A kind of table, and what happens to it after its first writes."""

    kind: Kind
    steps: Sequence[Write | Fails | Call] = ()

    @property
    def name(self) -> str:
        """The name of its kind."""
        return self.kind.name


def upsert(*names: str, n: int = 70, p: str = "x") -> Write:
    """An upsert of rows with these keys."""
    return Write("upsert", [make_row(name, n, p) for name in names])


def _named(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)


CLEAN, ARCHIVE = "CALL run_clean(table => '{table}', retain_commits => 1)", (
    "CALL archive_commits(table => '{table}', min_commits => 2, max_commits => 3, retain_commits => 1)")  # fmt: skip
SAVEPOINT = "CALL create_savepoint(table => '{table}', commit_time => '{last}')"
RESTORE = "CALL rollback_to_savepoint(table => '{table}', instant_time => '{savepoint}')"
ROLLBACK = "CALL rollback_to_instant(table => '{table}', instant_time => '{last}')"
CLUSTERING = "CALL run_clustering(table => '{table}')"
COMPACTION = "CALL run_compaction(op => 'run', table => '{table}')"
PLAN = "CALL run_compaction(op => 'schedule', table => '{table}')"
PLAN_CLUSTERING = "CALL run_clustering(table => '{table}', op => 'schedule')"
FAILING = Fails(upsert("k1", "k2", "lost", n=75))
STATISTICS = {
    **RECORD_INDEX,
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
}
SERVED = (SAVEPOINT, upsert("k1", n=80), upsert("k2", "k7", n=81), CLEAN, RESTORE, upsert("k1", n=82))
ROLLED_BACK = (FAILING, upsert("k1", n=80), ROLLBACK, upsert("k1", "k3", n=81), FAILING)

PROGRAMS = (
    Program(replace(_named("copy-on-write"), name="cow-rolled-back"), ROLLED_BACK),
    Program(replace(_named("merge-on-read"), name="mor-rolled-back"), ROLLED_BACK),
    Program(replace(_named("copy-on-write"), name="cow-restored", settings=STATISTICS), SERVED),
    Program(replace(_named("merge-on-read-one-partition"), name="mor-restored"), SERVED),
    Program(replace(_named("merge-on-read"), name="mor-planned"),
            (PLAN, upsert("k1", n=80), upsert("k4", n=81), COMPACTION, CLEAN, upsert("k5", n=82), PLAN_CLUSTERING)),
    Program(replace(_named("copy-on-write"), name="cow-clustered"),
            (PLAN_CLUSTERING, CLUSTERING, upsert("k1", n=80), CLEAN, ARCHIVE)),
    Program(_named("merge-on-read-archived"), (FAILING, upsert("k1", n=90), ARCHIVE)),
    Program(_named("copy-on-write-archived"), (FAILING, upsert("k1", n=90), CLEAN)),
    Program(_named("copy-on-write-nested")),
    Program(_named("merge-on-read-nested"), (COMPACTION,)),
    Program(_named("copy-on-write-by-month"), (CLEAN,)),
    Program(_named("merge-on-read-by-month"), (COMPACTION,)),
    Program(_named("copy-on-write-keyless"), (CLUSTERING,)),
    Program(_named("merge-on-read-keyless")),
    Program(_named("copy-on-write-buckets")),
    Program(_named("merge-on-read-buckets"), (COMPACTION,)),
    Program(_named("merge-on-read-secondary-index"), (COMPACTION,)),
    Program(_named("copy-on-write-overwritten"), (CLEAN,)),
    Program(_named("merge-on-read-partition-deleted"), (CLEAN,)),
    Program(_named("copy-on-write-change-log"), (CLEAN,)),
    Program(_named("merge-on-read-change-log"), (COMPACTION, upsert("k1", n=90))),
    Program(_named("merge-on-read-partial-merge"), (COMPACTION,)),
    Program(replace(_named("merge-on-read"), name="mor-dropped-columns",
                    settings={"hoodie.datasource.write.drop.partition.columns": "true"})),
    Program(Kind("cow-hive-style", COW, "p", {"hoodie.datasource.write.hive_style_partitioning": "true",
                                              "hoodie.datasource.write.partitionpath.urlencode": "true"},
                 made=(*MADE, upsert("k1", n=50, p="a/b c%")))),
)  # fmt: skip


@dataclass
class Maker:
    """Makes and validates the tables of one engine."""

    ask: Callable[..., Any]
    folder: Path
    wrong: int = 0

    def make(self, program: Program) -> None:
        """All steps of a table."""
        kind, home = program.kind, Path(tempfile.mkdtemp(prefix="sound-"))
        path = home / kind.name
        steps: Sequence[Any] = (None, *program.steps) if kind.statements else (*kind.made, *program.steps)
        for number, step in enumerate(steps):
            try:
                self._take(kind, path, step)
            except Exception:  # what Apache Hudi cannot do is shown, and the table is validated all the same
                print(f"{kind.name} step {number}: {traceback.format_exc(limit=1)[-600:]}", flush=True)
            copy = self.folder / f"{kind.name}@{number}"
            shutil.rmtree(copy, ignore_errors=True)
            if path.exists():
                shutil.copytree(path, copy)
                self.wrong += report(copy)
        shutil.rmtree(home)

    def _take(self, kind: Kind, path: Path, step: Any) -> None:
        columns = ", ".join(kind.columns)

        def rows(found: Sequence[tuple[str, ...]]) -> list[str]:
            return [f"({', '.join(_fitted(row, len(kind.columns)))})" for row in found]

        if step is None:
            views = {"ten": rows(TEN), "changed": rows(CHANGED)}
            self.ask("run_sql", path=str(path), type=kind.type, partition=kind.partition, settings=kind.settings,
                     columns=columns, views=views, statements=kind.statements)  # fmt: skip
        elif isinstance(step, str):
            self.ask("run", path=str(path), statement=step.format(table="{table}", **instants(path)))
        else:
            one = step.write if isinstance(step, Fails) else step
            given = {"path": str(path), "rows": rows(one.rows), "columns": columns, "options": kind.options(),
                     "operation": one.operation}  # fmt: skip
            if isinstance(step, Fails):
                self.ask("fail", **given)
            else:
                self.ask("write", **given, mode=one.mode)


def _fitted(row: tuple[str, ...], width: int) -> tuple[str, ...]:
    """The row with as many values as the table has columns; further columns are null."""
    return (*row[:width], *["null"] * (width - len(row)))


def instants(path: Path) -> Mapping[str, str]:
    """The times that statements may name."""
    completed = load_table(str(path)).timeline.completed
    writes = [one.requested for one in completed if one.action in ("commit", "deltacommit", "replacecommit", "clustering")]
    savepoints = [one.requested for one in completed if one.action == "savepoint"]
    return {"first": writes[0], "last": writes[-1], "savepoint": (savepoints or writes)[-1]}


def report(path: Path) -> int:
    """Validate a table, and print what is found; the number of findings of wrong answers or lost data."""
    found = validate(load_table(str(path)), ALL)
    wrong = [one for one in found.findings if one.severity in UNSOUND]
    for one in wrong:
        print(f"FALSE? {path}: {one.rule} {one.severity} {one.path} {one.key}")
        print(*(f"    {text}" for text in (one.meaning, one.expected, one.found)), sep="\n")
    for text in found.broken:
        print(f"BROKEN {path}: {text}")
    others = sorted({f"{one.rule} {one.severity}" for one in found.findings if one.severity not in UNSOUND})
    print(f"{path.name}: {len(wrong)} wrong; others {', '.join(others) or 'none'}", flush=True)
    return len(wrong) + len(found.broken)


def copies(folder: Path) -> Iterator[Path]:
    """The copies of tables in a folder."""
    yield from sorted(path.parent for path in folder.rglob(".hoodie") if "metadata" not in path.parts)


def main() -> int:
    """Make and validate the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--version", default="1.0.2", choices=MAKERS["8"])
    parser.add_argument("--table-version", default="8", choices=("6", "8", "9"))
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--again", action="store_true", help="only validate the copies that are there")
    chosen = parser.parse_args()
    if chosen.again:
        return int(sum(map(report, copies(chosen.folder))) > 0)
    maker = Maker(
        start_engine(chosen.version, chosen.table_version), chosen.folder / f"{chosen.version}-{chosen.table_version}"
    )
    for program in PROGRAMS:
        if not chosen.only or program.name in chosen.only:
            maker.make(program)
    return int(maker.wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
