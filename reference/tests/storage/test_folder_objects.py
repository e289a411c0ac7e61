"""Objects that stand for folders: Hadoop's file systems and the consoles of stores make an empty `a/b/` for the folder `a/b`."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from reference_samples import SCHEMA, TABLE_TYPES, data_rows, trip, trips

from hudi_reference import create_table, open_table
from hudi_reference.storage import storage_of

pytestmark = pytest.mark.s3


@pytest.fixture
def put_empty(s3_bucket: str) -> Callable[[str], None]:
    """A function that stores an empty object under a key. The library of the reference cannot store one that ends with a slash."""
    import boto3

    client = boto3.client("s3", region_name="us-east-1")
    return lambda key: client.put_object(Bucket=s3_bucket.removeprefix("s3://"), Key=key, Body=b"")


def test_a_folder_object_is_no_file(s3_bucket: str, put_empty: Callable[[str], None]) -> None:
    """LAY-004: listings have neither the objects of folders with files nor those of empty folders; empty files stay."""
    base = str(uuid4())
    storage = storage_of(f"{s3_bucket}/{base}")
    files = ["a/b/c", "a/empty", "a/t.commit.requested", "d", "e/f.commit.requested"]
    for file in files:
        storage.put(file, b"" if "empty" in file or "requested" in file else b"bytes")
    for folder in ("", "a/", "a/b/", "a/none/", "e/", "none/", "none/below/"):
        put_empty(f"{base}/{folder}")
    assert [info.path for info in storage.list()] == files
    assert [info.path for info in storage.list("a")] == files[:3]
    assert [info.path for info in storage.list("none")] == []
    assert storage.names("") == ("a/", "d", "e/", "none/")
    assert storage.names("a") == ("b/", "empty", "none/", "t.commit.requested")
    assert storage.names("none") == ("below/",)


@pytest.mark.parametrize("type", TABLE_TYPES)
def test_a_table_with_folder_objects_is_read_and_written(s3_bucket: str, put_empty: Callable[[str], None], type: str) -> None:
    """LAY-004: a table whose folders were made by Hadoop's S3A file system, which keeps their objects by default."""
    base = str(uuid4())
    table = create_table(f"{s3_bucket}/{base}", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), table_type=type)
    for number in range(3):
        for folder in (
            "",
            ".hoodie/",
            ".hoodie/.temp/",
            ".hoodie/timeline/",
            ".hoodie/timeline/history/",
            ".hoodie/metadata/",
            "x/",
        ):
            put_empty(f"{base}/{folder}")
        table.upsert(trips(trip("1", f"name {number}", p="x"), trip(f"{number + 2}", "b", p="y")))
    found = open_table(f"{s3_bucket}/{base}")
    assert [(row["id"], row["name"]) for row in data_rows(found.snapshot())] == [("1", "name 2"), *((n, "b") for n in "234")]
