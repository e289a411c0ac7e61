"""The thread that renews a lease while it is held."""

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

from hudi_reference.errors import LockLost, StorageFault


class Renewal:
    """Calls `renew` every so many milliseconds from `begin` to `end`.

    A service that does not answer may do so next time. Once the lease is lost there is nothing to renew: whoever holds it finds
    that out when he asks.
    """

    def __init__(self, renew: Callable[[], None], every: int) -> None:
        self._renew, self._seconds = renew, every / 1000
        self._over = Event()
        self._thread: Thread | None = None

    def begin(self) -> None:
        """Start the thread."""
        self._over = Event()
        self._thread = Thread(target=self._run, args=(self._over,), name="renewal of a lease", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop it. A renewal under way comes to its end first: none must come after the lease was given back."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, over: Event) -> None:
        with suppress(LockLost):
            while not over.wait(self._seconds):
                with suppress(StorageFault):
                    self._renew()
