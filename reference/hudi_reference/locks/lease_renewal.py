"""The thread that renews a lease while it is held."""

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

from hudi_reference.errors import LockLost, StorageFault


class Renewal:
    """Calls `renew` every `every` milliseconds from `begin` to `end`.

    If the service does not answer, the next call tries again. If the lease is lost, the thread stops; the holder learns of the
    loss at its next `check`.
    """

    def __init__(self, renew: Callable[[], None], every: int) -> None:
        self._renew, self._seconds = renew, every / 1000
        self._over = Event()
        self._thread: Thread | None = None

    def begin(self) -> None:
        """Start the thread."""
        self._over = Event()
        self._thread = Thread(target=self._run, args=(self._over,), name="lease renewal", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop the thread. Wait for a renewal in progress, because no renewal may follow the end of the lease."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, over: Event) -> None:
        with suppress(LockLost):
            while not over.wait(self._seconds):
                with suppress(StorageFault):
                    self._renew()
