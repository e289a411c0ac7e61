"""A validation on Spark gives what one process gives."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deep_damage_samples as d
import pyarrow as pa
import pytest
from compared_clauses_samples import COMPARED

from hudi_conformance.commands.optional_master import LOCAL, with_master
from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.stored.scope import Scope
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference.storage import LocalStorage

#: Damages that only the comparison of several files shows.
COMPARED_DAMAGES = ("the last schema lost a column", "a write completed before its update of the metadata table")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """A Spark session on two cores."""
    pytest.importorskip("pyspark", reason="needs the extra spark")
    from hudi_spark.session import local_session

    found = local_session()
    yield found
    found.stop()


@pytest.fixture
def damaged(tmp_path: Path) -> str:
    """A table on local disk with damages that checks of each kind of part find."""
    storage = d.indexed_merge_on_read()
    d.in_newest(d.with_value("_hoodie_partition_path", 3, "y"))(storage)
    d.duplicate_in_file(storage)
    d.change_index(storage, "record_index", removed=[min(d.entries_of(storage, "record_index"))])
    for clause in (one for one in COMPARED if one.name in COMPARED_DAMAGES):
        clause.edit(storage)
    target = LocalStorage(tmp_path)
    for info in storage.list(""):
        target.put(info.path, storage.get(info.path))
    return str(tmp_path)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")
def test_the_findings_are_those_of_one_process(session: Any, damaged: str) -> None:
    """Findings and counts are equal; the DataFrame of `hudi_spark.validate` has one row for each finding, in their order."""
    import hudi_spark
    from hudi_conformance.validator.on_spark import validate_on_spark

    here, there = validate(load_table(damaged), ALL), validate_on_spark(session, load_table(damaged), ALL)
    assert (there.findings, there.checked, there.broken) == (here.findings, here.checked, ())
    assert {"META-009", "PROP-017", "IDX-010", "LF-038", "TL-032"} <= {one.rule for one in here.findings}
    frame = hudi_spark.validate(session, damaged)
    assert [(row.rule, row.path, row.key) for row in frame.collect()] == [(o.rule, o.path, o.key) for o in here.findings]


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")
def test_rules_and_sample_are_followed(session: Any, damaged: str) -> None:
    """Only findings of the chosen rules are returned; a cheap validation reads no rows."""
    import hudi_spark

    found = hudi_spark.validate(session, damaged, rules=["PROP-017"]).collect()
    assert {row.rule for row in found} == {"PROP-017"}
    cheap = hudi_spark.validate(session, damaged, deep=False).collect()
    assert "META-009" not in {row.rule for row in cheap}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["t", "--spark"], ["t", "--spark", LOCAL]),
        (["--spark", "t"], ["--spark", LOCAL, "t"]),
        (["t", "--spark", "--deep"], ["t", "--spark", LOCAL, "--deep"]),
        (["t", "--spark", "local[2]"], ["t", "--spark", "local[2]"]),
        (["t", "--spark", "spark://host:7077"], ["t", "--spark", "spark://host:7077"]),
        (["t", "--deep"], ["t", "--deep"]),
    ],
)
def test_the_master_may_be_left_out(words: list[str], expected: list[str]) -> None:
    """The word after --spark is its value only if it is a master."""
    assert with_master(words) == expected


def test_a_sample_is_the_same_each_time() -> None:
    """--sample N: N file groups are opened, the same at each call, also in another order of checks."""
    storage = d.bucketed()
    tables = [load_table("memory:///deep", storage=storage, scope=Scope(sample=3)) for _ in range(2)]
    first, second = (validate(one, d.DEEP) for one in tables)
    assert first.checked == second.checked
    assert first.checked["BF-002"] == 3


def test_checks_can_be_sent_to_executors() -> None:
    """Each check can be pickled: none is a function inside another one."""
    assert [one.name for one in pickle.loads(pickle.dumps(ALL))] == [one.name for one in ALL]


def test_a_table_in_another_process_reads_the_same(tmp_path: Path) -> None:
    """A stored table can be pickled after use; the copy finds what the original finds."""
    storage = d.indexed()
    for clause in (one for one in COMPARED if one.name in COMPARED_DAMAGES):
        clause.edit(storage)
    target = LocalStorage(tmp_path)
    for info in storage.list(""):
        target.put(info.path, storage.get(info.path))
    d.rewrite(target, d.base_files(target)[-1], lambda rows: pa.concat_tables([rows, rows.slice(0, 1)]))
    table = load_table(str(tmp_path))
    here = validate(table, d.DEEP)
    assert validate(pickle.loads(pickle.dumps(table)), d.DEEP).findings == here.findings
    assert {"PROP-017", "META-005"} <= {one.rule for one in here.findings}
