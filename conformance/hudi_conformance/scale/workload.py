"""Workloads for large tables: which rows each commit writes, and which rows each query must return.

The rows are functions of their number, with arithmetic that Spark's SQL and numpy share, so that no row has to be stored or
sent: an engine makes the rows of a commit itself from a query. The expected digests are computed in parts of a million rows.

A row with number `n` has the key `n` in twelve digits. Each commit after the first touches a drawn share of the rows. In every
tenth row deletes happen, and never a late change; in two of ten, changes may be late. So no answer depends on the order of a
late change and a delete, which deployed engines merge differently (ER-154).
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from hudi_conformance.contract.digests import NULL, Digest, hash_of_row

Numbers = npt.NDArray[np.int64]

COLUMNS = ("id", "region", "ts", "amount", "name", "day", "is_open")
REGIONS = 16
#: The name of a row is null if its drawn number is divisible by this.
NULL_NAMES = 17
DAYS, FIRST_DAY = 2000, "2020-01-01"
#: Steps of the ordering value between commits, and the ordering value of late changes, which is lower than all others.
STEP, LATE = 10, 1
#: A prime, and a factor with which products of numbers below it fit into 63 bits.
_PRIME, _FACTOR = 2_147_483_647, 48_271
_PART = 1_000_000

#: The Avro schema of the table.
SCHEMA = {
    "type": "record",
    "name": "trip",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "region", "type": "string"},
        {"name": "ts", "type": "long"},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "name", "type": ["null", "string"], "default": None},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "is_open", "type": "boolean"},
    ],
}


@dataclass(frozen=True)
class Commit:
    """One commit: rows `first` to `last` (exclusive) of which `share` of 1,000 are drawn; `late` of 1,000 of these are late."""

    number: int
    operation: Literal["bulk_insert", "upsert", "delete"]
    first: int
    last: int
    share: int = 1000
    late: int = 0

    @property
    def ordering(self) -> int:
        """The ordering value of its rows that are not late."""
        return self.number * STEP


@dataclass(frozen=True)
class Rows:
    """Which rows a query returns: those of the state after the commit `until` that commit `since` or a later one wrote, with an
    ordering value of at least `least`.
    """

    until: int
    since: int = 0
    least: int = 0


@dataclass(frozen=True)
class Workload:
    """The commits of one table, in order; their numbers are 1, 2, ..."""

    commits: tuple[Commit, ...]

    @classmethod
    def draw(cls, rows: int, seed: int) -> "Workload":
        """A bulk insert of `rows` rows, then two to four drawn upserts and deletes, then an upsert without late changes."""
        drawn = random.Random(seed)
        commits, last = [Commit(1, "bulk_insert", 0, rows)], rows
        for number in range(2, drawn.randint(4, 6)):
            if number > 2 and drawn.random() < 0.4:
                commits.append(Commit(number, "delete", 0, last, share=drawn.randint(100, 500)))
                continue
            grown = last + rows * drawn.randint(0, 50) // 1000
            commits.append(Commit(number, "upsert", 0, grown, share=drawn.randint(20, 120), late=drawn.randint(0, 400)))
            last = grown
        if all(commit.operation != "delete" for commit in commits):
            commits.append(Commit(len(commits) + 1, "delete", 0, last, share=drawn.randint(100, 500)))
        commits.append(Commit(len(commits) + 1, "upsert", 0, last, share=drawn.randint(20, 120)))
        return cls(tuple(commits))

    @property
    def newest(self) -> int:
        """The number of the last commit."""
        return len(self.commits)

    def sql(self, commit: Commit) -> str:
        """The rows of a commit as a query in Spark's SQL."""
        touched, late = self._conditions(commit)
        drawn = _sql_draw(commit.number * 2)
        amount = "CAST(CAST(v AS DECIMAL(12,0)) * CAST(0.01 AS DECIMAL(3,2)) AS DECIMAL(12,2))"
        columns = (
            f"lpad(CAST(n AS STRING), 12, '0') AS id, concat('region-', {_sql_draw(1)} % {REGIONS}) AS region, "
            f"CAST(IF({late}, {LATE}, {commit.ordering}) AS BIGINT) AS ts, {amount} AS amount, "
            f"IF(v % {NULL_NAMES} = 0, NULL, concat('name ', n, ' of {commit.number}')) AS name, "
            f"date_add(DATE'{FIRST_DAY}', CAST(v % {DAYS} AS INT)) AS day, v % 2 = 0 AS is_open"
        )
        source = f"SELECT id AS n FROM range({commit.first}, {commit.last})"
        return f"SELECT {columns} FROM (SELECT n, {drawn} AS v FROM ({source}) WHERE {touched})"

    def _conditions(self, commit: Commit) -> tuple[str, str]:
        """SQL conditions of rows that a commit touches, and of those among them that are late."""
        drawn, kind = _sql_draw(commit.number * 2 + 1), f"{_sql_draw(0)} % 10"
        touched = f"({drawn} % 1000 < {commit.share})"
        if commit.operation == "delete":
            touched += f" AND {kind} = 0"
        return touched, f"({drawn} % 1000 < {commit.share * commit.late // 1000} AND {kind} IN (1, 2))"

    def digests(self, asked: Mapping[str, Rows]) -> dict[str, list[Digest]]:
        """The expected digests of queries by their names, grouped by region."""
        found: dict[str, dict[str, tuple[int, int]]] = {name: {} for name in asked}
        for numbers in self._parts():
            states = _states(self.commits, numbers)
            hashes: dict[tuple[int, int], int] = {}
            for name, rows in asked.items():
                _add(found[name], numbers, states, rows, hashes)
        return {name: sorted(Digest(group, *totals) for group, totals in groups.items()) for name, groups in found.items()}

    def _parts(self) -> Iterator[Numbers]:
        last = max(commit.last for commit in self.commits)
        for first in range(0, last, _PART):
            yield np.arange(first, min(first + _PART, last), dtype=np.int64)


_Drawn = TypeVar("_Drawn", int, Numbers)


def _draw(numbers: _Drawn, salt: int) -> _Drawn:
    """A number from 0 to 2^31 - 2 for each row and salt; the same as `_sql_draw`."""
    return ((numbers * _FACTOR + salt * 69_621 + 11) % _PRIME * 16_807 + salt) % _PRIME * _FACTOR % _PRIME


def _sql_draw(salt: int) -> str:
    return f"(((n * {_FACTOR} + {salt * 69_621 + 11}) % {_PRIME} * 16807 + {salt}) % {_PRIME} * {_FACTOR} % {_PRIME})"


def _states(commits: tuple[Commit, ...], numbers: Numbers) -> list[Numbers]:
    """For the state after each commit the number of the commit whose version each row has; 0: there is no such row.

    The first state is that before the first commit. A late change has the lowest ordering value, so that it stores a row only
    if there is none.
    """
    kind = _draw(numbers, 0) % 10
    states = [np.zeros(len(numbers), dtype=np.int64)]
    for commit in commits:
        drawn = _draw(numbers, commit.number * 2 + 1) % 1000
        touched = (numbers >= commit.first) & (numbers < commit.last) & (drawn < commit.share)
        if commit.operation == "delete":
            states.append(np.where(touched & (kind == 0), 0, states[-1]))
            continue
        late = (drawn < commit.share * commit.late // 1000) & np.isin(kind, (1, 2))
        replaced = touched & ~(late & (states[-1] > 0))
        states.append(np.where(replaced, np.where(late, -commit.number, commit.number), states[-1]))
    return states


def _add(
    found: dict[str, tuple[int, int]],
    numbers: Numbers,
    states: list[Numbers],
    rows: Rows,
    hashes: dict[tuple[int, int], int],
) -> None:
    """Add the rows of a query to the totals of their regions. `hashes` keeps hashes by number and version of the row."""
    version = states[rows.until]
    ordering = np.where(version > 0, version * STEP, LATE)
    chosen = (version != 0) & (np.abs(version) >= rows.since) & (ordering >= rows.least)
    regions = _draw(numbers, 1) % REGIONS
    for number, one, region in zip(numbers[chosen].tolist(), version[chosen].tolist(), regions[chosen].tolist(), strict=True):
        hashed = hashes.get((number, one))
        if hashed is None:
            hashed = hashes[number, one] = hash_of_row(texts_of(number, one, region))
        group = f"region-{region}"
        count, total = found.get(group, (0, 0))
        found[group] = count + 1, total + hashed


def texts_of(number: int, version: int, region: int) -> tuple[str, ...]:
    """The texts of the values of a row, in the order of COLUMNS; a late version is negative."""
    commit = abs(version)
    drawn = _draw(number, commit * 2)
    return (
        f"{number:012d}",
        f"region-{region}",
        str(commit * STEP if version > 0 else LATE),
        f"{drawn // 100}.{drawn % 100:02d}",
        NULL if drawn % NULL_NAMES == 0 else f"name {number} of {commit}",
        _DAY_TEXTS[drawn % DAYS],
        "true" if drawn % 2 == 0 else "false",
    )


_DAY_TEXTS = tuple(str(np.datetime64(FIRST_DAY) + offset) for offset in range(DAYS))
