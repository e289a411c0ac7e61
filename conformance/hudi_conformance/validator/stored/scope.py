"""Which part of a table is examined."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Scope:
    """Partitions and rules that a validation is limited to; the default is everything.

    Attributes:
        partitions: the partition paths; empty for all.
        sample: the most files or file slices that one check opens; None for all.
        rules: the rules whose findings are reported; empty for all.
    """

    partitions: tuple[str, ...] = ()
    sample: int | None = None
    rules: frozenset[str] = frozenset()

    def wants(self, partition: str) -> bool:
        """Whether the data files of a partition are examined."""
        return not self.partitions or partition in self.partitions

    def chosen(self, items: Sequence[_Item]) -> Sequence[_Item]:
        """At most `sample` of the items, spread evenly."""
        if self.sample is None or self.sample >= len(items):
            return items
        return [items[number * len(items) // self.sample] for number in range(self.sample)]
