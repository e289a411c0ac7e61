"""The storage of a table URI, and the one spelling of a URI that plans and metadata use."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from hudi_reference.errors import Misuse, TableNotFound
from hudi_reference.requirement import implements
from hudi_reference.storage.azure_and_google import azure_storage, google_storage
from hudi_reference.storage.local import LocalStorage
from hudi_reference.storage.memory import MemoryStorage
from hudi_reference.storage.object_errors import mask_credentials
from hudi_reference.storage.protocol import Storage
from hudi_reference.storage.s3 import s3_storage


@dataclass
class _Memory:
    """The tables of `memory:///` URIs of this process."""

    tables: dict[str, MemoryStorage] = field(default_factory=dict)


_MEMORY = _Memory()


def storage_of(uri: str) -> Storage:
    """The storage of a table URI: `file:///path` or a plain path, `memory:///name`, `s3://bucket/prefix`,
    `abfss://container@account.dfs.core.windows.net/prefix`, `az://container/prefix`, `gs://bucket/prefix`.

    Address and credentials of object stores are read from environment variables (`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`,
    `AZURE_STORAGE_ACCOUNT_KEY`, `GOOGLE_APPLICATION_CREDENTIALS`, ...).
    """
    parts = urlsplit(uri)
    if parts.scheme in ("s3", "s3a"):
        if "@" in parts.netloc:
            raise Misuse("the URI has credentials", expected="s3://BUCKET/PREFIX", found=mask_credentials(uri),
                         remedy="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")  # fmt: skip
        return s3_storage(parts.netloc, parts.path)
    if parts.scheme in ("abfs", "abfss", "wasb", "wasbs", "az"):
        return azure_storage(parts)
    if parts.scheme == "gs":
        return google_storage(parts)
    if parts.scheme == "memory":
        return _MEMORY.tables.setdefault(parts.netloc + parts.path, MemoryStorage())
    if parts.scheme == "file":
        return LocalStorage(Path(unquote(parts.path)))
    if "://" in uri:
        raise Misuse(
            f"unknown storage scheme {parts.scheme!r}",
            expected="file, s3, abfss, az, gs or memory",
            found=mask_credentials(uri),
        )
    return LocalStorage(Path(uri).absolute())


@implements("TL-014", "LAY-001")
def canonical_uri(uri: str) -> str:
    """The URI of a table, absolute and without `.`, `..` and empty steps, whatever the caller wrote.

    Plans and metadata name files with it, and deployed engines parse these names. A relative path is resolved here once: the
    working directory may change later. Only a path with `..` is resolved through symbolic links, because the folder above a
    link depends on its target.
    """
    path = local_path(uri)
    if path is None:
        return uri
    return Path(os.path.realpath(path) if ".." in path.parts else os.path.normpath(path)).as_uri()


def no_table(uri: str) -> TableNotFound:
    """The error for a URI without a table, with what is there instead: nothing, a file, or another folder."""
    path = local_path(uri)
    found, remedy = _split_store_uri(uri) if path is None else _split_disk_path(path)
    return TableNotFound(
        "there is no table at this path", rule="LAY-012", path=uri, expected="a folder with .hoodie", found=found, remedy=remedy
    )


def local_path(uri: str) -> Path | None:
    """The path of a `file:///path` URI or a plain path; None for other URIs."""
    parts = urlsplit(uri)
    if parts.scheme == "file":
        return Path(unquote(parts.path)).absolute()
    return None if "://" in uri else Path(uri).absolute()


def _split_disk_path(path: Path) -> tuple[str, str]:
    if path.is_file():
        return "a file", "give the folder of the table; `hudi-conformance inspect` shows single files of a table"
    if not path.exists():
        there = next((parent for parent in path.parents if parent.exists()), path)
        return f"nothing; the path exists up to {there}", "check the path"
    above = next((parent for parent in path.parents if (parent / ".hoodie").is_dir()), None)
    if above is not None:
        return f"a folder of the table {above}", f"give {above}"
    names = sorted(entry.name for entry in path.iterdir())
    if not names:
        return "an empty folder", "check the path"
    return f"a folder with {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}", "give the folder that holds .hoodie"


def _split_store_uri(uri: str) -> tuple[str, str]:
    if storage_of(uri).list(""):
        return "objects, and none below .hoodie", "give the prefix that holds .hoodie"
    return "no object with this prefix", "check bucket and prefix"
