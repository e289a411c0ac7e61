"""Opening a prefix of a container of Azure, or of a bucket of Google: address and credentials from the environment."""

import os
from typing import Any, NoReturn
from urllib.parse import SplitResult

from hudi_reference.errors import Misuse, NameNotStorable
from hudi_reference.storage.object_errors import AccessSettings, library_errors, mask_credentials, text_of
from hudi_reference.storage.objects import WHOLE, ObjectStorage

ACCOUNT = "AZURE_STORAGE_ACCOUNT_NAME"
AZURE_SETTINGS = AccessSettings(
    f"{ACCOUNT} and AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_SAS_KEY, AZURE_CLIENT_ID", "AZURE_STORAGE_ENDPOINT", "container"
)
GOOGLE_SETTINGS = AccessSettings("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_SERVICE_ACCOUNT", "the network", "bucket")
#: The metadata of an empty object that Hadoop's drivers of Azure make for a folder.
_FOLDER_MARK = "hdi_isfolder"
#: The account of Azure's emulator.
_EMULATED = "devstoreaccount1"
_AZURE_URI = "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PREFIX"


def azure_storage(parts: SplitResult) -> ObjectStorage:
    """The objects of `abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PREFIX` or `az://CONTAINER/PREFIX`.

    Credentials, and the account of a URI that does not name it, are read from the variables `AZURE_STORAGE_…`.
    """
    container, has_account, host = parts.netloc.rpartition("@")
    account = host.partition(".")[0] if has_account else os.environ.get(ACCOUNT, "")
    container = container if has_account else host
    if ":" in container:
        raise Misuse("the URI has credentials", expected=_AZURE_URI, found=mask_credentials(parts.geturl()),
                     remedy=f"set {AZURE_SETTINGS.keys}")  # fmt: skip
    if not container:
        raise Misuse("the URI names no container", expected=_AZURE_URI, found=parts.geturl())
    if os.environ.get("AZURE_STORAGE_USE_EMULATOR", "").lower() in ("true", "1"):
        account = _EMULATED
    elif not account:
        raise Misuse("the URI names no account", expected=_AZURE_URI, found=parts.geturl(), remedy=f"set {ACCOUNT}")
    from obstore.store import AzureStore

    store = _opened(AzureStore, container, parts.path, AZURE_SETTINGS, account_name=account)
    return AzureObjects(store, name=f"azure {account}/{container}/{parts.path.strip('/')}", access=AZURE_SETTINGS)


def google_storage(parts: SplitResult) -> ObjectStorage:
    """The objects of `gs://BUCKET/PREFIX`, to be read.

    Credentials are read from the variables `GOOGLE_…` or are those of the machine.
    """
    if "@" in parts.netloc or not parts.netloc:
        raise Misuse("the URI names no bucket", expected="gs://BUCKET/PREFIX", found=mask_credentials(parts.geturl()))
    from obstore.store import GCSStore

    store = _opened(GCSStore, parts.netloc, parts.path, GOOGLE_SETTINGS)
    return ReadOnlyObjects(store, name=f"google {parts.netloc}/{parts.path.strip('/')}", access=GOOGLE_SETTINGS)


def _opened(kind: Any, place: str, path: str, access: AccessSettings, **settings: str) -> Any:
    """A store of the library, which does not repeat requests. Raises Misuse for settings that it refuses."""
    try:
        return kind(
            place,
            prefix=path.strip("/") or None,
            client_options={"allow_http": True},
            retry_config={"max_retries": 0},
            **settings,
        )
    except library_errors() as error:
        raise Misuse(
            "the object store cannot be opened", path=place, expected=access.keys, found=text_of(error),
            remedy=f"check {access.keys}",
        ) from error  # fmt: skip


class AzureObjects(ObjectStorage):
    """A prefix of a container. Hadoop's drivers make an empty object `a/b` with a mark in its metadata for the folder `a/b`."""

    def names(self, folder: str) -> tuple[str, ...]:
        """See `Storage`. No folder is also an object."""
        found = super().names(folder)
        folders = {name for name in found if name.endswith("/")}
        return tuple(name for name in found if f"{name}/" not in folders)

    def put(self, path: str, data: bytes) -> None:
        """See `Storage`."""
        super().put(_require_name(path), data)

    def create(self, path: str, data: bytes) -> None:
        """See `Storage`."""
        super().create(_require_name(path), data)

    def _end(self, path: str) -> tuple[bytes, int]:
        """Azure has no ranges that count from the end of an object."""
        info = self.head(path)
        if info is None:
            raise FileNotFoundError(path)
        return self.range(path, max(0, info.size - WHOLE), info.size), info.size

    def _without_objects(self, empty: set[str]) -> set[str]:
        return {path for path in empty if self._head_with_metadata(path).attributes.get(_FOLDER_MARK) == "true"}


def _require_name(path: str) -> str:
    """The path. Raises NameNotStorable for a name that Azure would change."""
    if "\\" in path:
        raise NameNotStorable(
            "Azure cannot store an object of this name", path=path, expected="a name without backslashes", found=repr(path),
            remedy="store the partition with hoodie.datasource.write.partitionpath.urlencode=true, or use another store",
        )  # fmt: skip
    return path


class ReadOnlyObjects(ObjectStorage):
    """A prefix that is only read.

    Writers of a table depend on the conditions of writes. Those of Google are other ones than those of S3 and Azure, and no
    emulator of them is known on which they could be tested.
    """

    def put(self, path: str, data: bytes) -> None:
        """Raise Misuse."""
        self._refuse(path)

    def create(self, path: str, data: bytes) -> None:
        """Raise Misuse."""
        self._refuse(path)

    def replace(self, path: str, data: bytes, version: str) -> None:
        """Raise Misuse."""
        self._refuse(path)

    def delete(self, path: str) -> None:
        """Raise Misuse."""
        self._refuse(path)

    def _refuse(self, path: str) -> NoReturn:
        raise Misuse("tables on this object store are only read", path=path, expected="a table on file, s3, abfss or memory",
                     found=self.name, remedy="copy the table to one of these, or write to it with another engine")  # fmt: skip
