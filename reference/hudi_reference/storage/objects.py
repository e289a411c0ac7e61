"""A prefix of a bucket as storage.

A request over a network has three outcomes: done, refused, and unknown. A read whose answer was lost is sent again. A
creation or replacement whose answer was lost may have happened. Therefore each one stores a unique mark in the metadata of
the object (`hudi-written-by`), and the mark of the stored object identifies its writer. A writer thus never takes the object
of another writer for its own, even if the contents are equal, and never overwrites one because the answer to its own request
was lost.
"""

import io
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import pyarrow as pa

from hudi_reference.errors import AccessDenied, Misuse, OutcomeUnknown, StorageFault, StorageUnavailable, UnfitStorage
from hudi_reference.limits import OBJECT_BYTES
from hudi_reference.requirement import implements
from hudi_reference.storage.protocol import ObjectChanged, ObjectExists, ObjectInfo, is_below, require_inside_table

Answer = TypeVar("Answer")
#: The name of the mark in the metadata of an object.
MARK = "hudi-written-by"
#: Objects up to this size in bytes are fetched completely when they are opened.
WHOLE = 1 << 20
#: Patterns of errors that deny access.
_DENIED = re.compile(r"status code: 40[13]\b")
#: Errors of a ranged GET of an object without bytes, or from a store that ignores ranges.
_NO_RANGE = re.compile(r"status code: 416\b|non-partial response")
#: User and password in a URL.
_CREDENTIALS = re.compile(r"//[^/\s]*@")
#: Requests to the metadata service of a cloud machine, which the library sends if no keys are set.
_METADATA_SERVICE = re.compile(r"//169\.254\.\d+\.\d+|//\[fd00:ec2::254\]|/latest/(api/token|meta-data)")
#: The object of the request that checks, before the first conditional write, whether the store evaluates conditions.
_PROBES = ".hoodie/.temp"


@dataclass(frozen=True)
class RetryPolicy:
    """The pauses in seconds before a request without an answer, or with a request to slow down, is sent again."""

    pauses: tuple[float, ...] = (0.05, 0.2, 0.8, 2.0)
    pause: Callable[[float], None] = time.sleep

    def tries(self) -> Iterator[bool]:
        """Sleep between tries, and yield for each one whether it is the last."""
        for seconds in self.pauses:
            yield False
            self.pause(seconds)
        yield True


class ObjectStorage:
    """A prefix of a bucket, accessed through obstore.

    `store` is an obstore store with the base path of the table as root. It must not retry requests, because then the answer
    to a creation would not identify the writer of the object. `name` identifies the place in this process.

    In addition to the errors of `Storage`, all methods raise StorageUnavailable and AccessDenied, and those that write raise
    OutcomeUnknown and UnfitStorage.
    """

    def __init__(self, store: Any, *, retries: RetryPolicy | None = None, writer: str | None = None, name: str = "") -> None:
        self.name = name
        self._store = store
        self._retries = retries or RetryPolicy()
        self._writer = writer or uuid4().hex
        self._marks = 0
        self._is_fit = False
        self._checking = Lock()

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process is a writer of its own, so that it does not take objects of this one for its own."""
        return {name: value for name, value in vars(self).items() if name not in ("_checking", "_writer")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _checking=Lock(), _writer=uuid4().hex)

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """A ranged GET; no bytes after the end of the object."""
        if start == 0 and length is None:
            return self._whole(path)
        info = self.head(path)
        if info is None:
            raise FileNotFoundError(path)
        end = info.size if length is None else min(info.size, start + length)
        return self.range(path, start, end)

    def open(self, path: str) -> pa.NativeFile:
        """A small object completely, a large one by ranged GETs: the first for its end, where base files have their footer."""
        end, size = self._end(path)
        if size == len(end):
            return pa.BufferReader(end)
        return pa.PythonFile(io.BufferedReader(_ObjectReader(self, path, size, end), WHOLE), mode="r")

    @implements("LAY-004")
    def head(self, path: str) -> ObjectInfo | None:
        """A HEAD request."""
        import obstore

        try:
            return _object_info(
                self._send_idempotent("HEAD", path, lambda: obstore.head(self._store, require_inside_table(path)))
            )
        except FileNotFoundError:
            return None

    @implements("LAY-004")
    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """LIST, all pages."""
        import obstore

        folder = require_inside_table(prefix) or None
        pages = self._send_idempotent("LIST", prefix, lambda: list(obstore.list(self._store, folder)))
        found = [_object_info(meta) for page in pages for meta in page]
        kept = [info for info in found if is_below(info.path, prefix) and not (skip and is_below(info.path, skip))]
        return sorted(kept, key=lambda info: info.path)

    def names(self, folder: str) -> tuple[str, ...]:
        """LIST with the delimiter `/`, all pages."""
        import obstore

        place = require_inside_table(folder) or None
        found = self._send_idempotent("LIST", folder, lambda: obstore.list_with_delimiter(self._store, place))
        objects = (meta["path"].rpartition("/")[2] for meta in found["objects"])
        folders = (f"{prefix.rstrip('/').rpartition('/')[2]}/" for prefix in found["common_prefixes"])
        return tuple(sorted([*objects, *folders]))

    def put(self, path: str, data: bytes) -> None:
        """PUT in one request: readers see the old object or the complete new one."""
        import obstore

        try:
            self._send_idempotent(
                "PUT", path, lambda: obstore.put(self._store, require_inside_table(path), data, use_multipart=False)
            )
        except FileNotFoundError as error:
            raise _translate_error("PUT", path, error) from error

    @implements("S3-001", "S3-002", "S3-006")
    def create(self, path: str, data: bytes) -> None:
        """PUT with If-None-Match: *, in one request."""
        self._check_fit()
        if not self._send_conditional(path, data, "create", None):
            raise ObjectExists(path)

    @implements("S3-001", "S3-003")
    def replace(self, path: str, data: bytes, version: str) -> None:
        """PUT with If-Match.

        It also fails if it was applied, its answer was lost, and another writer replaced the object since.
        """
        self._check_fit()
        if not self._send_conditional(path, data, {"e_tag": version}, version):
            raise ObjectChanged(path)

    @implements("LAY-004")
    def delete(self, path: str) -> None:
        """DELETE."""
        import obstore

        with suppress(FileNotFoundError):
            self._send_idempotent("DELETE", path, lambda: obstore.delete(self._store, require_inside_table(path)))

    def _whole(self, path: str) -> bytes:
        return self._send_idempotent("GET", path, lambda: self._fetch(path))

    def _fetch(self, path: str) -> bytes:
        import obstore

        found = obstore.get(self._store, require_inside_table(path))
        OBJECT_BYTES.check(found.meta["size"], path)
        return bytes(found.bytes())

    def _end(self, path: str) -> tuple[bytes, int]:
        """The last megabyte of an object, or all of a smaller one, and its size, in one request."""
        import obstore

        def fetch() -> tuple[bytes, int]:
            try:
                found = obstore.get(self._store, require_inside_table(path), options={"range": {"suffix": WHOLE}})
            except _errors() as error:
                if not _NO_RANGE.search(str(error)):
                    raise
                whole = self._fetch(path)
                return whole, len(whole)
            return bytes(found.bytes()), found.meta["size"]

        return self._send_idempotent("GET", path, fetch)

    def range(self, path: str, start: int, end: int) -> bytes:
        """The bytes from `start` to `end`, exclusive, which must be within the object."""
        import obstore

        if start >= end:
            return b""
        OBJECT_BYTES.check(end - start, path, start)
        return self._send_idempotent(
            "GET", path, lambda: bytes(obstore.get_range(self._store, require_inside_table(path), start=start, end=end))
        )

    def _send_idempotent(self, what: str, path: str, send: Callable[[], Answer]) -> Answer:
        """The answer to an idempotent request, which may be retried."""
        for is_last in self._retries.tries():
            try:
                return send()
            except FileNotFoundError:
                raise
            except _errors() as error:
                fault = _translate_error(what, path, error)
                if is_last or isinstance(fault, AccessDenied):
                    raise fault from error
        raise AssertionError("a last try")

    def _send_conditional(self, path: str, data: bytes, mode: Any, before: str | None) -> bool:
        """Send a conditional write; whether the stored object is the one that was sent. `before` is the version it may replace.

        A failed condition means that another object is stored, or that two requests conflicted and neither was applied. After a
        failed condition or a lost answer, the object is read, and the request is sent again if the object has not changed.
        """
        import obstore

        self._marks += 1
        mark, is_out = f"{self._writer}-{self._marks}", False
        for is_last in self._retries.tries():
            try:
                obstore.put(
                    self._store, require_inside_table(path), data, mode=mode, attributes={MARK: mark}, use_multipart=False
                )
            except _errors(FileNotFoundError) as error:
                is_out = is_out or not isinstance(error, _refusals())
                fault = _outcome_unknown(path, error) if is_out else _translate_error("PUT", path, error)
                if isinstance(fault, AccessDenied):
                    raise fault from error
                version, found = self._read_version_and_mark(path, fault)
                if found == mark:
                    return True
                if version != before:
                    return False
                if is_last:
                    raise fault from error
            else:
                return True
        raise AssertionError("a last try")

    def _read_version_and_mark(self, path: str, fault: StorageFault) -> tuple[str | None, str | None]:
        """Version and mark of the stored object. Raises `fault` if they cannot be read."""
        import obstore

        try:
            found = self._send_idempotent(
                "HEAD", path, lambda: obstore.get(self._store, require_inside_table(path), options={"head": True})
            )
        except FileNotFoundError:
            return None, None
        except StorageFault as error:
            raise fault from error
        return str(found.meta["e_tag"]), found.attributes.get(MARK)

    def _check_fit(self) -> None:
        """Check before the first conditional write that the store evaluates conditions.

        Raises UnfitStorage, without a change of the table.
        """
        with self._checking:  # threads share the object of the check
            if not self._is_fit:
                self._probe_conditions()
                self._is_fit = True

    def _probe_conditions(self) -> None:
        """Write one object twice with conditions that do not hold. Raises UnfitStorage."""
        probe = f"{_PROBES}/probe-{self._writer}"
        self._send_conditional(probe, b"probe", "create", None)
        try:
            for condition, mode, before in (("If-None-Match", "create", None), ("If-Match", {"e_tag": '"none"'}, '"none"')):
                if self._send_conditional(probe, b"again", mode, before):
                    raise UnfitStorage(
                        "the store ignores the conditions of writes, so that writers would overwrite each other", rule="S3-002",
                        path=probe, expected=f"a PUT with {condition} fails if the condition is false",
                        found="it succeeded", remedy="use a store that supports conditional writes",
                    )  # fmt: skip
        finally:
            self.delete(probe)


class _ObjectReader(io.RawIOBase):
    """An object of known size, whose last bytes are known too, as a Python file object."""

    def __init__(self, storage: ObjectStorage, path: str, size: int, end: bytes) -> None:
        self._storage, self._path, self._size, self._end, self._place = storage, path, size, end, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._place = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: Any) -> int:
        known = self._place - (self._size - len(self._end))
        if known >= 0:
            data = self._end[known : known + len(buffer)]
        else:
            data = self._storage.range(self._path, self._place, min(self._size, self._place + len(buffer)))
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


def s3_storage(bucket: str, prefix: str, *, retries: RetryPolicy | None = None, **options: Any) -> ObjectStorage:
    """The objects below `prefix` of a bucket. `options` are those of obstore's S3Store; endpoint and keys are read from the
    environment variables if they are not given.

    The retries of the library are disabled, because after a retried create the answer would not identify the writer.
    """
    from obstore.store import S3Store

    endpoint = options.pop("endpoint", None) or _endpoint_of_environment()
    client = {"allow_http": True, **options.pop("client_options", {})}
    if endpoint:
        _check_endpoint(endpoint)
        options |= {"endpoint": endpoint, "virtual_hosted_style_request": False}
    place = prefix.strip("/")
    _check_keys(bucket, options)
    store = S3Store(bucket, prefix=place or None, client_options=client, retry_config={"max_retries": 0}, **options)
    return ObjectStorage(store, retries=retries, name=mask_credentials(f"{endpoint or 's3'} {bucket}/{place}"))


def _endpoint_of_environment() -> str | None:
    """The endpoint that the environment variables name. The library would read an empty one, and panic."""
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
        if (found := os.environ.get(name)) is not None:
            if not found.strip():
                raise Misuse(f"{name} is empty", expected="http://HOST:PORT or https://HOST:PORT", remedy=f"unset {name}")
            return found
    return None


def _check_endpoint(endpoint: str) -> None:
    """Raise Misuse for an endpoint that is no URL of a server: the library would panic."""
    try:
        parts = urlsplit(endpoint)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or re.search(r"\s", endpoint):
        raise Misuse(
            "the endpoint of the object store is not a URL of a server", expected="http://HOST:PORT or https://HOST:PORT",
            found=mask_credentials(endpoint), remedy="check AWS_ENDPOINT_URL",
        )  # fmt: skip


def mask_credentials(text: str) -> str:
    """A text without the user and the password of the URLs in it."""
    return _CREDENTIALS.sub("//***@", text)


def _check_keys(bucket: str, options: Mapping[str, Any]) -> None:
    """Raise AccessDenied for keys that are set and empty, and Misuse for a URI without a bucket."""
    if not bucket:
        raise Misuse("the URI names no bucket", expected="s3://BUCKET/PREFIX")
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    empty = [name for name in names if os.environ.get(name, "unset").strip() == ""]
    if empty and "access_key_id" not in options:
        raise AccessDenied(
            "the keys of the object store are empty", path=bucket, expected=" and ".join(names), found=f"{empty[0]} is empty",
            remedy="set both variables, or unset both to use the other sources of credentials",
        )  # fmt: skip


def _refusals() -> tuple[type[Exception], ...]:
    """The errors of a failed condition. obstore raises them also if two requests conflicted (409) and neither was applied."""
    from obstore import exceptions

    return exceptions.AlreadyExistsError, exceptions.PreconditionError, FileNotFoundError


def _errors(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """The errors of the library, and `more`. For a missing object it raises Python's FileNotFoundError."""
    from obstore import exceptions

    found: type[Exception] = exceptions.BaseError
    return found, *more


def _translate_error(what: str, path: str, error: Exception) -> StorageFault:
    """Translate an error of the store into one of the reference; `found` is the text of the store."""
    from obstore import exceptions

    said = mask_credentials(" ".join(str(error).partition("\n\nDebug source")[0].split()))[:500]
    if _METADATA_SERVICE.search(said):
        return AccessDenied(
            f"there are no credentials for a {what}", path=path, expected="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            found="neither is set, and no other source of credentials answered",
            remedy="set both variables, or run where the machine has a role",
        )  # fmt: skip
    denials = exceptions.PermissionDeniedError | exceptions.UnauthenticatedError
    if isinstance(error, denials) or _DENIED.search(said):  # LIST raises a general error
        return AccessDenied(
            f"the store denied a {what}", path=path, expected="valid credentials with the right to do so",
            found=said,
            remedy="check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and the policy of the bucket",
        )  # fmt: skip
    return StorageUnavailable(
        f"the store did not execute a {what}", path=path, expected="an answer", found=said,
        remedy="check AWS_ENDPOINT_URL and the name of the bucket, then try again; nothing was changed",
    )  # fmt: skip


def _outcome_unknown(path: str, error: Exception) -> StorageFault:
    fault = _translate_error("PUT", path, error)
    if isinstance(fault, AccessDenied):
        return fault
    return OutcomeUnknown(
        "it is unknown whether the object was written", rule="S3-002", path=path, expected="an answer", found=fault.found,
        remedy="check the timeline before you repeat the write; it may be complete",
    )  # fmt: skip


def _object_info(meta: Any) -> ObjectInfo:
    return ObjectInfo(meta["path"], meta["size"], int(meta["last_modified"].timestamp() * 1000), str(meta["e_tag"]))
