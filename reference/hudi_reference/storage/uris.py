"""The storage of a table URI."""

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from hudi_reference.errors import Misuse
from hudi_reference.storage.local import LocalStorage
from hudi_reference.storage.memory import MemoryStorage
from hudi_reference.storage.objects import s3_storage
from hudi_reference.storage.protocol import Storage


@dataclass
class _Memory:
    """The tables of `memory:///` URIs of this process."""

    tables: dict[str, MemoryStorage] = field(default_factory=dict)


_MEMORY = _Memory()


def storage_of(uri: str) -> Storage:
    """The storage of a table URI: `file:///path` or a plain path, `memory:///name`, `s3://bucket/prefix`.

    S3 reads endpoint and keys from environment variables (`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, ...).
    """
    parts = urlsplit(uri)
    if parts.scheme in ("s3", "s3a"):
        return s3_storage(parts.netloc, parts.path)
    if parts.scheme == "memory":
        return _MEMORY.tables.setdefault(parts.netloc + parts.path, MemoryStorage())
    if parts.scheme == "file":
        return LocalStorage(Path(unquote(parts.path)))
    if "://" in uri:
        raise Misuse(f"unknown storage scheme {parts.scheme!r}", expected="file, s3 or memory", found=uri)
    return LocalStorage(Path(uri).absolute())
