"""Access to storage with the semantics of an object store: no rename, no append, no directories.

A path is relative to the base path of the table and uses `/`. An object is written atomically. Every race between writers is
decided by `create`, which fails if the object exists, or by `replace`, which fails if the object has another version.

`protocol.Storage` is the only I/O of the reference. A new storage implements it; `suite/object_storage` and the storage tests
of the reference check it. Imports errors only. What may be changed here: how a storage carries out these operations; their
meaning is the protocol.
"""

from hudi_reference.storage.local import SYNC_VARIABLE, LocalStorage
from hudi_reference.storage.memory import MemoryStorage
from hudi_reference.storage.new_files import STAGING
from hudi_reference.storage.objects import ObjectStorage, RetryPolicy
from hudi_reference.storage.opened_folders import MARKERS
from hudi_reference.storage.protocol import ObjectChanged, ObjectExists, ObjectInfo, Storage, is_below, require_inside_table
from hudi_reference.storage.s3 import s3_storage
from hudi_reference.storage.system_calls import SystemCalls
from hudi_reference.storage.uris import storage_of

__all__ = [
    "MARKERS",
    "STAGING",
    "SYNC_VARIABLE",
    "LocalStorage",
    "MemoryStorage",
    "ObjectChanged",
    "ObjectExists",
    "ObjectInfo",
    "ObjectStorage",
    "RetryPolicy",
    "Storage",
    "SystemCalls",
    "is_below",
    "require_inside_table",
    "s3_storage",
    "storage_of",
]
