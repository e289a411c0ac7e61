"""Properties that are computed once."""

import threading

from greenlet import getcurrent, greenlet

from hudi_reference.caching import cached_property


class Counted:
    """An object with a property that pauses while it is computed."""

    def __init__(self, pause):
        self.pause = pause
        self.computed = 0

    @cached_property
    def value(self):
        """How often it was computed."""
        self.computed += 1
        self.pause()
        return self.computed


def test_a_value_is_computed_once():
    """The second access returns the stored value."""
    counted = Counted(lambda: None)
    assert [counted.value, counted.value, counted.computed] == [1, 1, 1]


def test_a_reader_that_is_paused_blocks_no_thread():
    """One object pauses while its value is computed. A thread computes the value of another object.

    `functools.cached_property` of Python 3.11 holds a lock of the class meanwhile, so that the thread waits forever.
    """
    scheduler = getcurrent()
    paused = greenlet(lambda: Counted(scheduler.switch).value)
    paused.switch()
    thread = threading.Thread(target=lambda: Counted(lambda: None).value, daemon=True)
    thread.start()
    thread.join(timeout=10)
    assert not thread.is_alive()
    paused.switch()
    assert not paused  # it has ended
