"""Active and archived timelines of golden tables: Apache Hudi's own classes and the reference load the same instants."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.cases.inspection import find_contradiction
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.engine import Engine
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.engines.reference.engine import Reference
from hudi_reference import migrate
from hudi_reference.timeline.instants.instant import parse_instant_name

pytestmark = [pytest.mark.apache_hudi, pytest.mark.slow]

TIME = re.compile(r"\d{17}|\d{14}")
#: Tables that one of both need not load: damaged, refused and half-upgraded ones; one with a file whose name Apache Hudi
#: refuses; those in which foreign files stop the view of slices that 1.0.2 makes.
NOT_LOADED = re.compile(r"(.*\.)?(damaged|broken|refuse)\.|.*\.half-upgraded$|(history\.level-of-two-digits|foreign-files.*)$")
#: Golden tables of version 6 with nothing pending, as a migration wants them.
OLDER = ("v6.cow", "v6.cow.archived", "v6.cow.savepoint", "v6.mor", "v6.mor.archived", "v6.mor.compacted", "v6.mor.rolled-back")


def shape(table: Path) -> str:
    """The names of all files with a time below `.hoodie`, without the metadata table; times are replaced by their rank."""
    home = table / ".hoodie"
    files = (path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file())
    names = sorted(name for name in files if TIME.search(name) and not name.startswith("metadata/"))
    text = "\n".join(names)
    ranks = {time: str(rank) for rank, time in enumerate(sorted(set(TIME.findall(text))))}
    return TIME.sub(lambda found: f"t{ranks[found[0]]}", text)


def golden_tables(engine: str) -> dict[str, Path]:
    """The golden tables of `engine` by case; of those whose timelines differ only in times the first one."""
    found: dict[str, Path] = {}
    for path in sorted(fixtures_root().glob("*/*/case.json")):
        table, case = path.parent / "table", json.loads(path.read_text("utf-8"))
        if table.is_dir() and case["producer"]["engine"] == engine and not NOT_LOADED.match(path.parent.name):
            found.setdefault(shape(table), table)
    return {f"{table.parts[-3]}.{table.parts[-2]}": table for table in found.values()}


def timeline_of(engine: Engine | Client, table: Path) -> Any:
    """The timeline that the engine returns, or its error."""
    try:
        return engine.inspect(table.as_uri())["timeline"]
    except ContractError as error:
        return f"{type(engine).__name__}: {error}"


def timelines_that_differ(hudi: Client, tables: Mapping[str, Path]) -> list[str]:
    """The tables for which instants, states and completion times differ."""
    ours = Reference()
    seen = {name: (timeline_of(hudi, table), timeline_of(ours, table)) for name, table in tables.items()}
    return [f"{name}: {theirs}, not {own}" for name, (theirs, own) in seen.items() if theirs != own]


def test_apache_hudi_loads_every_timeline_that_the_reference_writes(hudi: Client) -> None:
    """TL-001, TL-025, TL-034, LSM-001: requested times, actions, states and completion times, active and archived ones."""
    tables = golden_tables("reference")
    assert len(tables) > 40
    assert timelines_that_differ(hudi, tables) == []


def test_the_reference_loads_every_timeline_that_apache_hudi_writes(hudi: Client) -> None:
    """TL-001, TL-025, TL-034, LSM-001: the same the other way around, upgraded tables and tables of version 6 among them."""
    tables = golden_tables("apache-hudi")
    assert len(tables) > 120
    assert timelines_that_differ(hudi, tables) == []


def files_that_differ(hudi: Client, table: Path) -> list[str]:
    """The files of the active timeline that Apache Hudi and the reference decode differently."""
    ours, wrong = Reference(), []
    for file in sorted((table / ".hoodie" / "timeline").glob("[0-9]*")):
        if file.is_file() and parse_instant_name(file.name) is not None:
            found = find_contradiction(ours.inspect(file.as_uri()), hudi.inspect(file.as_uri()))
            wrong += [f"{file}: {found.summary()}"] if found else []
    return wrong


def test_apache_hudi_reads_every_file_of_the_timelines_that_the_reference_writes(hudi: Client) -> None:
    """TL-002, TL-026: each requested, inflight and completed file says the same to both."""
    assert [wrong for table in golden_tables("reference").values() for wrong in files_that_differ(hudi, table)] == []


def slices_of(inspection: Any) -> dict[tuple[str, str], list[Any]]:
    """The slices of each file group by base instant, in the order of the engine."""
    return {
        (partition, file_id): sorted(group["slices"], key=lambda found: found["base_instant"])
        for partition, groups in inspection["file_groups"].items()
        for file_id, group in groups.items()
    }


@pytest.mark.parametrize("name", OLDER)
def test_apache_hudi_loads_the_timeline_of_a_table_that_the_reference_migrated(hudi: Client, tmp_path: Path, name: str) -> None:
    """COMPAT-006: instants, states, completion times and file slices after a migration from version 6, and what each file says."""
    table, ours = tmp_path / "table", Reference()
    shutil.copytree(fixtures_root() / "compatibility" / name / "table", table)
    uri = table.as_uri()
    before = ours.inspect(uri)["timeline"]
    migrate(uri)
    theirs, own = hudi.inspect(uri), ours.inspect(uri)
    assert theirs["timeline"] == own["timeline"]
    assert slices_of(theirs) == slices_of(own)
    known = {(found["requested"], found["action"]) for found in own["timeline"]["completed"]}
    assert {(found["requested"], found["action"]) for found in before["completed"]} <= known
    assert files_that_differ(hudi, table) == []
