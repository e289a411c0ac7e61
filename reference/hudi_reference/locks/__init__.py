"""Locks of a table: mutual exclusion of writers and services while they take times, check conflicts and publish.

A lock belongs to an owner, which is a name and not a thread: a second `acquire` by the same owner returns at once. `in_process`
excludes the threads of one process; writers on several machines need one of the other providers.

A new provider is a `Lease` (see `lease`), an entry of `providers.PROVIDERS` and its settings in `settings.SETTINGS`, from
which docs/locks.md is generated. Imports storage, clock and errors; no table. What may be changed here: which providers
exist, and how each keeps its lease.
"""

from hudi_reference.locks.lock import InProcessLock, Lock, hold_lock, lock_of, new_owner
from hudi_reference.locks.providers import PROVIDER_KEY, lock_for

__all__ = ["PROVIDER_KEY", "InProcessLock", "Lock", "hold_lock", "lock_for", "lock_of", "new_owner"]
