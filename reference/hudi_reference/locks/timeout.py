"""How long an owner waits for a lock, and how often it tries."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from hudi_reference.clock import Clock
from hudi_reference.locks.settings import number_of


@dataclass(frozen=True)
class LockTimeout:
    """The waiting times for a lock, in milliseconds.

    An owner tries for `wait` milliseconds, with pauses of `step`, twice `step`, and so on up to `longest_step`. If that fails,
    it pauses for `between` and tries again, `retries` times.

    The time is the sum of the pauses and not read from the clock, because the clock may be set back meanwhile.
    """

    wait: int = 60_000
    step: int = 1_000
    longest_step: int = 16_000
    retries: int = 50
    between: int = 5_000

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> Self:
        """The waiting times of the writer's settings. Raises Misuse."""
        return cls(
            wait=number_of(options, "hoodie.write.lock.wait_time_ms"),
            step=number_of(options, "hoodie.write.lock.wait_time_ms_between_retry", least=1),
            longest_step=number_of(options, "hoodie.write.lock.max_wait_time_ms_between_retry", least=1),
            retries=number_of(options, "hoodie.write.lock.client.num_retries"),
            between=number_of(options, "hoodie.write.lock.client.wait_time_ms_between_retry"),
        )

    @property
    def longest(self) -> int:
        """The longest total wait, in milliseconds."""
        return (self.retries + 1) * self.wait + self.retries * self.between

    def tries(self, clock: Clock) -> Iterator[None]:
        """Yield once for each try, at least once, and sleep between the tries."""
        for retry in range(self.retries + 1):
            if retry:
                clock.sleep(self.between)
            yield None
            left, step = self.wait, self.step
            while left > 0:
                clock.sleep(min(step, left))
                yield None
                left, step = left - step, min(2 * step, self.longest_step)

    def __str__(self) -> str:
        return f"{self.longest / 1000:g} s"
