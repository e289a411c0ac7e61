"""The folder in which the suite keeps what it makes once: environments of engines, downloads, compiled modules."""

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """The folder of environments and bundles: HUDI_CONFORMANCE_CACHE, or the user's cache folder."""
    return Path(os.environ.get("HUDI_CONFORMANCE_CACHE") or platformdirs.user_cache_path("hudi-conformance"))
