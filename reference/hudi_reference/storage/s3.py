"""Opening a prefix of an S3 bucket: endpoint and keys from the environment, checked before the first request."""

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from hudi_reference.errors import AccessDenied, Misuse
from hudi_reference.storage.object_errors import mask_credentials
from hudi_reference.storage.objects import ObjectStorage, RetryPolicy


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
