"""What keeps writers of one table apart while they decide something together.

A lock belongs to an owner, not to a thread: whoever names the same owner is inside already. `in_process` keeps the threads of
one process apart; writers on several machines need a lock that all of them can reach.
"""

from hudi_reference.locks.in_process import InProcessLock, lock_of
from hudi_reference.locks.lock import Lock, held, new_owner
from hudi_reference.locks.providers import PROVIDER_KEY, lock_for

__all__ = ["PROVIDER_KEY", "InProcessLock", "Lock", "held", "lock_for", "lock_of", "new_owner"]
