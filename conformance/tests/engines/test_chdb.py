"""The adapter of chDB, without the package: SQL of filters, columns of bytes, and copies of local tables on the object store."""

import os
from datetime import UTC, datetime
from pathlib import Path

import obstore
import pyarrow as pa
import pytest
from obstore.store import S3Store

from hudi_conformance.engines import chdb

#: As DESCRIBE answers.
TYPES = {"name": "Nullable(String)", "at": "Nullable(DateTime64(6, 'UTC'))", "place.city": "Nullable(String)"}


@pytest.mark.parametrize(
    ("column", "op", "value", "condition"),
    [
        ("name", "=", "it's \\", r"`name` = 'it\'s \\'"),
        ("name", "in", ("a", None), "`name` in ('a', NULL)"),
        ("ts", "<", -1.5, "`ts` < -1.5"),
        ("flag", "!=", True, "`flag` != true"),
        ("place.city", "=", "rome", "`place`.`city` = 'rome'"),
        ("at", ">=", "2026-01-10T12:00:00Z", "`at` >= parseDateTime64BestEffort('2026-01-10T12:00:00Z', 6, 'UTC')"),
    ],
)
def test_filters_as_sql(column, op, value, condition):
    """Texts are escaped, moments are parsed as such, and members of structs are named by their path."""
    assert chdb._condition(TYPES, column, op, value) == condition


def test_texts_that_are_no_texts_are_bytes():
    """ClickHouse has one type for both."""
    rows = pa.table({"a": pa.array([b"\xff", None]).cast(pa.binary()), "b": ["text", "\u00e9"]})
    answered = rows.set_column(0, "a", pa.Array.from_buffers(pa.string(), 2, rows["a"].chunk(0).buffers()))
    assert chdb._with_bytes(answered).equals(rows)


@pytest.mark.s3
def test_copies_follow_the_table(tmp_path: Path):
    """A file that is new, changed or deleted is so on the object store before the next query."""
    pytest.importorskip("moto.server")
    tables, folder = chdb._CopiedTables(), tmp_path / "my table"
    folder.mkdir()
    kept, changed, gone = (folder / name for name in ("kept", "changed", "gone"))
    for path in (kept, changed, gone):
        path.write_text(path.name)
    url, key, secret = tables.address(folder.as_uri())
    try:
        endpoint, _, prefix = url.partition("/tables/")
        store = S3Store(
            "tables", endpoint=endpoint, region="us-east-1", access_key_id=key, secret_access_key=secret,
            client_options={"allow_http": True},
        )  # fmt: skip
        assert _stored(store, prefix) == {"kept": b"kept", "changed": b"changed", "gone": b"gone"}
        changed.write_text("longer than before")
        gone.unlink()
        later = datetime.now(UTC).timestamp() + 10
        os.utime(changed, (later, later))
        assert tables.address(folder.as_uri()) == (url, key, secret)
        assert _stored(store, prefix) == {"kept": b"kept", "changed": b"longer than before"}
    finally:
        tables.stop()


def test_tables_on_an_object_store_are_read_there(monkeypatch: pytest.MonkeyPatch):
    """The endpoint and the keys are those of the environment; nothing is copied."""
    for name, value in (("ENDPOINT_URL", "http://127.0.0.1:1"), ("ACCESS_KEY_ID", "mine"), ("SECRET_ACCESS_KEY", "hidden")):
        monkeypatch.setenv(f"AWS_{name}", value)
    assert chdb._CopiedTables().address("s3://bucket/a/b") == ("http://127.0.0.1:1/bucket/a/b/", "mine", "hidden")


def _stored(store: S3Store, prefix: str) -> dict[str, bytes]:
    found = obstore.list(store, prefix.rstrip("/")).collect()
    return {one["path"].rpartition("/")[2]: bytes(obstore.get(store, one["path"]).bytes()) for one in found}
