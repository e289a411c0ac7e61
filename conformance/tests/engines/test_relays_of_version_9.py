"""Relays over tables of version 9: Apache Hudi 1.2.0, the reference and hudi-rs 0.6 write one table in turns.

After each step all of them read the table, and it is validated. The steps are drawn from a seed. The second part is a reader of
version 8 beside a table that becomes one of version 9 and of version 8 again.
"""

import random
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from hudi_rs_samples import started

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.engine import Engine
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.model import Model
from hudi_conformance.suite.support.programs.write_programs import TYPES, Program, Row, Written, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.custom_mergers import stored_properties
from hudi_conformance.validator.written_tables import WrittenTables

pytestmark = [pytest.mark.apache_hudi, pytest.mark.rust, pytest.mark.slow]
Type = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
TYPES_OF_TABLES = pytest.mark.parametrize("type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
KEYS = ("a", "b", "c", "d:1", "ü")
#: Services by engine: hudi-rs compacts, and has no other service.
SERVICES = {
    "reference": ("compaction", "clustering", "clean"),
    "1.2.0": ("compaction", "clustering", "clean"),
    "rs": ("compaction",),
}
INDEXED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}
REWRITING = ("compaction", "clustering")


@pytest.fixture(scope="module")
def rs() -> Iterator[Client]:
    with started("hudi-rs@0.6") as client:
        yield client


@pytest.fixture(scope="module")
def newest() -> Iterator[Client]:
    with started("apache-hudi@1.2.0") as client:
        yield client


@dataclass
class Relay:
    """A table, the engines that write and read it by name, and the model of its rows."""

    uri: str
    engines: Mapping[str, Engine | Client]
    model: Model
    options: Mapping[str, str] = field(default_factory=dict)
    instants: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)
    tables: WrittenTables = field(default_factory=WrittenTables)

    def write(self, name: str, operation: Literal["upsert", "insert", "delete"], rows: tuple[Row, ...]) -> None:
        """Write with one engine; all engines read the rows of the model."""
        instant = self.engines[name].write(self.uri, operation, as_arrow(rows), options=self.options)
        self.instants.append(instant)
        self.model.apply(operation, rows, instant)
        self.deleted |= {str(one["id"]) for one in rows if operation == "delete"}
        self.check(f"{operation} of {sorted(one['id'] for one in rows)} by {name}")

    def serve(self, name: str, service: Literal["compaction", "clustering", "clean"]) -> None:
        """Run a service with one engine; all engines read the same rows as before."""
        options = {"hoodie.clean.commits.retained": "2"} if service == "clean" else {}
        instant = self.engines[name].service(self.uri, service, options={**self.options, **options})
        if instant is not None and service in REWRITING:
            self.model.apply("compact", (), instant)
        self.check(f"{service} by {name}")

    def check(self, step: str) -> None:
        """Every engine has the rows of the model, now and at the latest write; and the table is sound."""
        self.steps.append(step)
        told = "; ".join(self.steps)
        latest = self.instants[-1]
        then = Query("as-of", as_of=latest, columns=tuple(TYPES))
        for name, engine in self.engines.items():
            expect_rows(engine, self.uri, self.model.snapshot(), f"{name} after {told}")  # type: ignore[arg-type]
            expect_rows(engine, self.uri, self.model.as_of(latest), f"{name} as of {latest} after {told}", then)  # type: ignore[arg-type]
        assert self.tables.problems(self.uri) == (), told


def drawn_rows(rng: random.Random, deleted: Container[str]) -> tuple[Row, ...]:
    """Rows of a few keys, some of them flagged as deleted.

    Keys that were deleted have greater ordering values than before: with a lower one, Apache Hudi and hudi-rs return the deleted
    row of the base file.
    """
    return tuple(
        row(
            key,
            rng.randint(1, 5) + 5 * (key in deleted),
            f"v{rng.randrange(1000)}",
            city_of(key),
            deleted=rng.choice((None, None, False, True)),
        )
        for key in rng.sample(KEYS, rng.randint(1, 3))
    )


def without_deletes(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The rows, none of them a delete: after deletes in log files release 1.2.0 loses entries of the record index (ER-202, ER-207)."""
    return tuple({**one, "_hoodie_is_deleted": None} for one in rows)


def city_of(key: str) -> str:
    """The partition of a key, always the same."""
    return ("oslo", "rio")[KEYS.index(key) % 2]


@TYPES_OF_TABLES
@pytest.mark.parametrize("creator", ["reference", "1.2.0", "rs"])
def test_three_engines_write_a_table_in_turn(newest: Client, rs: Client, tmp_path: Path, creator: str, type: Type) -> None:
    """LAY-002: whichever engine created the table, each write and service of one engine is read by all three, and the table is sound."""
    rng = random.Random(f"{creator} {type}")
    engines: dict[str, Engine | Client] = {"reference": Reference(), "1.2.0": newest, "rs": rs}
    program = Program(type, "COMMIT_TIME_ORDERING" if creator == "rs" else "EVENT_TIME_ORDERING", True, version=9)
    relay = Relay((tmp_path / "table").as_uri(), engines, program.model())
    engines[creator].create(relay.uri, program.spec())
    relay.write(creator, "upsert", tuple(row(key, 3, "first", city_of(key)) for key in KEYS[:4]))
    for number in range(9):
        name = list(engines)[(list(engines).index(creator) + 1 + number) % 3]
        does = rng.choice(("upsert", "upsert", "upsert", "delete", "service"))
        services = [one for one in SERVICES[name] if type == "MERGE_ON_READ" or one != "compaction"]
        if does == "service" and services:
            relay.serve(name, rng.choice(services))  # type: ignore[arg-type]
        elif does == "delete" and (known := relay.model.snapshot()):
            relay.write(name, "delete", (rng.choice(known),))  # hudi-rs does not write a delete that removes nothing
        else:
            relay.write(name, "upsert", drawn_rows(rng, relay.deleted))
    assert stored_properties(relay.uri)["hoodie.table.version"] == "9"


@TYPES_OF_TABLES
def test_indexes_are_maintained_in_turn(newest: Client, tmp_path: Path, type: Type) -> None:
    """MDT-010, IDX-012: both engines maintain the statistics of columns and partitions and the record index of a table of version
    9, and no filter on a value or a key loses a row, whichever engine wrote, compacted or clustered last.

    LAY-017: the reference creates the table, and Apache Hudi is the first to write it.
    """
    rng = random.Random(f"indexed {type}")
    engines: dict[str, Engine | Client] = {"reference": Reference(), "1.2.0": newest}
    program = Program(type, "EVENT_TIME_ORDERING", True, version=9)
    relay = Relay((tmp_path / "table").as_uri(), engines, program.model(), INDEXED)
    engines["reference"].create(relay.uri, program.spec())
    relay.write("1.2.0", "upsert", tuple(row(key, 3, "first", city_of(key)) for key in KEYS[:4]))
    for number in range(8):
        name = list(engines)[number % 2]
        services = [one for one in SERVICES[name] if type == "MERGE_ON_READ" or one != "compaction"]
        if number in (3, 6):
            relay.serve(name, rng.choice(services))  # type: ignore[arg-type]
        else:
            relay.write(name, "upsert", without_deletes(drawn_rows(rng, relay.deleted)))
        rows = relay.model.snapshot()
        for column in ("value", "id"):
            for value in sorted({one[column] for one in rows})[:3]:
                query = Query(columns=("id", "ts", "value"), where=((column, "=", value),))
                found = [one for one in rows if one[column] == value]
                for reader, engine in engines.items():
                    expect_rows(engine, relay.uri, found, f"{reader}, {column} = {value} after {relay.steps}", query)  # type: ignore[arg-type]
    listed = stored_properties(relay.uri)["hoodie.table.metadata.partitions"].split(",")
    assert set(listed) == {"files", "column_stats", "partition_stats", "record_index"}


@TYPES_OF_TABLES
def test_a_reader_of_one_version_beside_writers_of_the_other(hudi: Client, rs: Client, tmp_path: Path, type: Type) -> None:
    """COMPAT-008: a table that is written in turns becomes one of version 9 in the middle, and of version 8 again.

    COMPAT-005: release 1.0.2 refuses it meanwhile, for reading and for writing, and changes no file; it reads and writes it
    again afterwards. Release 1.2.0 reads and writes it all the time.
    """
    engines: dict[str, Engine | Client] = {"hudi": hudi, "reference": Reference()}
    program = Program(type, "EVENT_TIME_ORDERING", True, version=8)
    relay = Relay((tmp_path / "table").as_uri(), engines, program.model())
    hudi.create(relay.uri, program.spec())
    relay.write("hudi", "upsert", tuple(row(key, 3, "first", city_of(key)) for key in KEYS[:4]))
    relay.write("reference", "upsert", (row("a", 4, "newer"), row("b", 1, "late", "rio"), row("ü", 1, "new")))
    migrate(relay, 9)
    only_new = {"reference": engines["reference"], "rs": rs}
    relay.engines = only_new if knows_version_8_alone(hudi) else {**engines, "rs": rs}
    relay.write("rs", "upsert", (row("a", 5, "at 9"), row("c", 2, "late"), row("ü", 9, "gone", deleted=True)))
    relay.write("reference", "delete", (row("d:1", 0, "", "rio"),))
    if knows_version_8_alone(hudi):
        expect_refused(hudi, relay)
    else:
        relay.write("hudi", "upsert", (row("b", 7, "by hudi", "rio"), row("d:1", 3, "again", "rio")))
    migrate(relay, 8)
    relay.engines = engines
    relay.check("downgrade")
    relay.write("hudi", "upsert", (row("a", 6, "at 8 again"), row("c", 1, "late")))
    relay.write("reference", "upsert", (row("c", 8, "newest"), row("b", 0, "late", "rio")))
    assert stored_properties(relay.uri)["hoodie.table.version"] == "8"


def knows_version_8_alone(engine: Client) -> bool:
    """Whether the engine has no tables of version 9."""
    return "table-version.9" not in engine.hello.features


def migrate(relay: Relay, version: int) -> None:
    """The reference changes the version of the table."""
    relay.engines["reference"].service(relay.uri, "migrate", options={"hoodie.write.table.version": str(version)})
    relay.model.apply("compact", (), relay.instants[-1])
    assert stored_properties(relay.uri)["hoodie.table.version"] == str(version)


def expect_refused(engine: Client, relay: Relay) -> None:
    """The engine neither reads nor writes the table, and leaves every file as it is."""
    table = Written(relay.uri, (), relay.model)
    before = table.digest()
    with pytest.raises(ContractError):
        engine.read(relay.uri, Query())
    with pytest.raises(ContractError):
        engine.write(relay.uri, "upsert", as_arrow((row("a", 99, "lost"),)))
    assert table.digest() == before
