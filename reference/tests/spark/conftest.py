"""One Spark session for all tests of this folder, on two cores and with one retry of each task."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from reference_samples import SCHEMA, START

from hudi_reference import WritableTable, create_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests, and ignore the warnings of PySpark about versions of libraries."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))
            item.add_marker(pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"))


@pytest.fixture(scope="session")
def spark(s3_bucket: str) -> Iterator[Any]:
    """The session. The bucket comes first: executors inherit the environment that names it."""
    del s3_bucket
    pytest.importorskip("pyspark", reason="needs the extra spark")
    from hudi_spark.session import local_session

    session = local_session("local[2,2]")
    yield session
    session.stop()


@pytest.fixture
def make_table(tmp_path: Path) -> Callable[..., WritableTable]:
    """Makes an empty table on local disk; its `uri` is what other processes open."""

    def make(**options: Any) -> WritableTable:
        given: dict[str, Any] = {"name": "trips", "schema": SCHEMA, "record_key": ("id",), **options}
        return create_table(str(tmp_path / "table"), clock=ManualClock(START), ids=SeededIds(7), **given)

    return make
