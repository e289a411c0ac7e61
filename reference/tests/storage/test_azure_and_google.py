"""Tables on Azure and Google: what their object stores do otherwise than S3, and URIs and settings that cannot be used."""

import os
from pathlib import Path
from uuid import uuid4

import pytest
from reference_samples import SCHEMA, TABLE_TYPES, data_rows, trip, trips
from store_emulators import AZURITE_ACCOUNT, AZURITE_KEY, CONTAINER, google

from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import chosen, validate
from hudi_reference import create_table, open_table
from hudi_reference.errors import AccessDenied, Misuse, StorageFault
from hudi_reference.storage import storage_of

REFUSED = {
    "abfss://account.dfs.core.windows.net/t": "names no account",
    "abfss://@account.dfs.core.windows.net/t": "names no container",
    "abfss://c:secret@account.dfs.core.windows.net/t": "has credentials",
    "az://": "names no container",
    "az://container/t": "names no account",
    "gs://": "names no bucket",
    "gs://user:secret@bucket/t": "names no bucket",
}


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The environment without settings of a store."""
    for name in [name for name in os.environ if name.startswith(("AZUR", "GOOGLE_"))]:
        monkeypatch.delenv(name)
    return monkeypatch


@pytest.mark.parametrize("uri", REFUSED)
def test_a_uri_that_names_no_place_is_refused(no_settings: pytest.MonkeyPatch, uri: str) -> None:
    """The error says what is missing, before the first request, and shows no password."""
    with pytest.raises(Misuse, match=REFUSED[uri]) as caught:
        storage_of(uri)
    assert "secret" not in str(caught.value)


def test_settings_that_the_library_refuses_are_an_error_of_ours(no_settings: pytest.MonkeyPatch) -> None:
    """A key that is no base64, and a file of credentials that does not exist."""
    no_settings.setenv("AZURE_STORAGE_ACCOUNT_KEY", "no base64!")
    with pytest.raises(Misuse, match="AZURE_STORAGE_ACCOUNT_KEY"):
        storage_of("abfss://container@account.dfs.core.windows.net/t")
    no_settings.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
    with pytest.raises(Misuse, match=r"/nowhere/key\.json"):
        storage_of("gs://bucket/t")


@pytest.mark.emulators
def test_empty_objects_with_a_mark_are_folders(azure_container: str) -> None:
    """LAY-004: Hadoop's drivers of Azure make an empty object `a` with the metadata `hdi_isfolder` for the folder `a`."""
    from azure.storage.blob import ContainerClient

    base = str(uuid4())
    storage = storage_of(f"{azure_container}/{base}")
    files = ["a/b/c", "a/empty", "a/t.commit.requested", "d"]
    for file in files:
        storage.put(file, b"bytes" if file in ("a/b/c", "d") else b"")
    account = f"{os.environ['AZURITE_BLOB_STORAGE_URL']}/{AZURITE_ACCOUNT}"
    client = ContainerClient(account, CONTAINER, credential=AZURITE_KEY)
    for folder in ("a", "a/b", "a/none", "none", "none/below"):
        client.upload_blob(f"{base}/{folder}", b"", metadata={"hdi_isfolder": "true"})
    assert [info.path for info in storage.list()] == files
    assert [info.path for info in storage.list("a")] == files[:3]
    assert storage.names("") == ("a/", "d", "none/")


@pytest.mark.emulators
def test_wrong_keys_are_denied(azure_container: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the variables of Azure."""
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "bm8ga2V5")
    with pytest.raises(AccessDenied, match="AZURE_STORAGE_ACCOUNT_KEY"):
        storage_of(f"{azure_container}/t").get("a")


@pytest.mark.emulators
@pytest.mark.parametrize("type", TABLE_TYPES)
def test_a_table_on_google_is_read_and_not_written(tmp_path: Path, type: str) -> None:
    """Its rows and its listing are those of the table that was copied there; no request changes it."""
    folder = tmp_path / "all" / "bucket"
    table = create_table(str(folder / "t"), name="t", schema=SCHEMA, record_key=("id",), partition=("p",), table_type=type)
    table.upsert(trips(trip("1", "a", p="x"), trip("2", "b", p="y")))
    table.upsert(trips(trip("1", "c", p="x")))
    with google(folder) as bucket:
        found, there = open_table(f"{bucket}/t"), _sizes(f"{bucket}/t")
        assert there == _sizes(str(folder / "t"))
        assert [(row["id"], row["name"]) for row in data_rows(found.snapshot())] == [("1", "c"), ("2", "b")]
        assert not validate(load_table(f"{bucket}/t"), chosen(ALL, deep=True, rules=[])).findings
        with pytest.raises(Misuse, match="only read"):
            found.upsert(trips(trip("1", "d", p="x")))
        assert _sizes(f"{bucket}/t") == there
        with pytest.raises(StorageFault) as caught:
            storage_of("gs://no-such-bucket/t").list()
        assert "AWS_" not in str(caught.value)


def _sizes(uri: str) -> list[tuple[str, int]]:
    return [(info.path, info.size) for info in storage_of(uri).list()]
