"""How long one waits for a lock."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from hudi_reference.clock import Clock
from hudi_reference.locks.settings import number_of


@dataclass(frozen=True)
class Patience:
    """All in milliseconds: one waits for `wait`, looking again after `step`, twice that, and so on up to `longest_step`. If it
    was in vain, one pauses for `between` and does that again, `retries` times.

    Waiting is counted by what was slept and not by the clock, which may be set back meanwhile.
    """

    wait: int = 60_000
    step: int = 1_000
    longest_step: int = 16_000
    retries: int = 50
    between: int = 5_000

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Self:
        """As the writer's settings have it. Raises Misuse."""
        return cls(
            wait=number_of(options, "hoodie.write.lock.wait_time_ms"),
            step=number_of(options, "hoodie.write.lock.wait_time_ms_between_retry", least=1),
            longest_step=number_of(options, "hoodie.write.lock.max_wait_time_ms_between_retry", least=1),
            retries=number_of(options, "hoodie.write.lock.client.num_retries"),
            between=number_of(options, "hoodie.write.lock.client.wait_time_ms_between_retry"),
        )

    @property
    def longest(self) -> int:
        """The whole of it, in milliseconds."""
        return (self.retries + 1) * self.wait + self.retries * self.between

    def tries(self, clock: Clock) -> Iterator[None]:
        """One for each try, with the pauses between them; at least one."""
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
