"""The reference's only way to storage: the semantics of an object store, and no more.

No rename, no append, no directories. A path is relative to the table's base path and uses `/`. An object appears whole or
not at all. What creates an object exclusively (`create`) or replaces a known version (`replace`) decides every race
between writers; nothing else does.
"""

from hudi_reference.storage.local import LocalStorage
from hudi_reference.storage.memory import MemoryStorage
from hudi_reference.storage.objects import ObjectStorage, RetryPolicy, s3_storage
from hudi_reference.storage.paths import inside, is_below
from hudi_reference.storage.protocol import ObjectChanged, ObjectExists, ObjectInfo, Storage
from hudi_reference.storage.uris import storage_of

__all__ = [
    "LocalStorage",
    "MemoryStorage",
    "ObjectChanged",
    "ObjectExists",
    "ObjectInfo",
    "ObjectStorage",
    "RetryPolicy",
    "Storage",
    "inside",
    "is_below",
    "s3_storage",
    "storage_of",
]
