"""Engines on large tables, with few rows: the rows of SQL are those of the expectation."""

import pytest

from hudi_conformance.scale.comparison import Verdict, compare
from hudi_conformance.scale.workload import Workload


@pytest.mark.apache_hudi
@pytest.mark.slow
def test_apache_hudi_and_the_reference_answer_as_expected(tmp_path):
    """1.2.0 writes 3,000 drawn rows from SQL, and both answer all six questions; the reference by rows, 1.2.0 by digests."""
    found = list(compare(["apache-hudi@1.2.0", "reference"], Workload.draw(3000, 1), tmp_path, lambda line: None))
    assert all(isinstance(one, Verdict) and one.is_right for one in found), [one for one in found if not one.is_right]
    assert len(found) == 2 * 6


@pytest.mark.spark
@pytest.mark.slow
def test_the_spark_engine_writes_and_reads_as_expected(tmp_path):
    """Digests of the Spark engine are of the data columns, as those of every engine."""
    found = list(compare(["spark", "reference"], Workload.draw(3000, 1), tmp_path, lambda line: None))
    assert [one for one in found if not (isinstance(one, Verdict) and one.is_right)] == []
    assert len(found) == 2 * 6


@pytest.mark.apache_hudi
@pytest.mark.slow
def test_a_reader_that_ignores_deletes_is_found(tmp_path):
    """The faulty engine that ignores deletes in log files is wrong after the delete, and right before it."""
    engines = ["apache-hudi@1.2.0", "faulty:drops-deletes"]
    found = list(compare(engines, Workload.draw(3000, 1), tmp_path, lambda line: None))
    wrong = {one.answer.question for one in found if one.reader.startswith("faulty") and not one.is_right}
    assert "snapshot" in wrong
