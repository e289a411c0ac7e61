"""Targets: a decoder with its first inputs, the way its inputs are taken apart, and its own properties."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tools.fuzz.structure_aware.parts import Explode, one_leaf
from tools.fuzz.targets import oracle
from tools.fuzz.targets.oracle import Limits
from tools.fuzz.targets.seed_files import inputs_of_findings


@dataclass(frozen=True)
class Target:
    """One decoder. `decode` raises a HudiError for bad input, and `oracle.Broken` if one of its properties fails."""

    name: str
    says: str
    decode: Callable[[bytes], object]
    seeds: Callable[[], Iterable[bytes]]
    explode: Explode = one_leaf
    limits: Limits = field(default_factory=Limits)
    #: Longest input in bytes.
    longest: int = 1 << 16

    def inputs(self) -> list[bytes]:
        """Inputs on which the decoder once failed, then the seeds, without those that are too long."""
        return [data for data in (*inputs_of_findings(self.name), *self.seeds()) if len(data) <= self.longest]

    def check(self, data: bytes) -> None:
        """Decode, and raise an exception if a property fails."""
        oracle.decode_within_limits(self.decode, data, self.limits)
