"""Tables on object stores, with the empty objects that Hadoop's file systems make for folders."""

import boto3
import pytest
from reference_samples import SCHEMA, TABLE_TYPES, trip, trips

from hudi_conformance.processes.object_store import REGION, Store, client_environment
from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import chosen, validate
from hudi_reference import create_table

FOLDERS = ("", ".hoodie/", ".hoodie/.aux/.bootstrap/.partitions/", ".hoodie/.temp/", ".hoodie/timeline/",
           ".hoodie/timeline/history/", ".hoodie/metadata/files/", "x/", "no rows/")  # fmt: skip


@pytest.mark.s3
@pytest.mark.parametrize("type", TABLE_TYPES)
def test_objects_of_folders_are_no_finding(monkeypatch: pytest.MonkeyPatch, type: str) -> None:
    """LAY-004, LAY-017: the folder of the timeline is no file, and an empty folder is no partition."""
    with Store() as store:
        for name, value in client_environment(store.endpoint, "test").items():
            monkeypatch.setenv(name, value)
        store.create_bucket("bucket")
        table = create_table("s3://bucket/t", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), table_type=type)
        table.upsert(trips(trip("1", "a", p="x")))
        client = boto3.client("s3", region_name=REGION)
        for folder in FOLDERS:
            client.put_object(Bucket="bucket", Key=f"t/{folder}", Body=b"")
        table.upsert(trips(trip("1", "b", p="x"), trip("2", "c", p="y")))
        found = validate(load_table("s3://bucket/t"), chosen(ALL, deep=True, rules=[]))
    assert not found.broken
    assert not found.findings, [(one.rule, one.path, one.found) for one in found.findings]
