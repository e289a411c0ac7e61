"""Which part of a table is examined."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from hudi_conformance.validator.stored.listing import is_in

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Scope:
    """Partitions and rules that a validation is limited to; the default is everything.

    Attributes:
        partitions: the partition paths; empty for all.
        sample: the most files or file slices that one check opens; None for all.
        rules: the rules whose findings are reported; empty for all.
        unlisted: folders that the storage did not list; partitions in them are not examined.
    """

    partitions: tuple[str, ...] = ()
    sample: int | None = None
    rules: frozenset[str] = frozenset()
    unlisted: tuple[str, ...] = ()

    @property
    def lacks_partitions(self) -> bool:
        """Whether a partition may be left out."""
        return bool(self.partitions or self.unlisted)

    def wants(self, partition: str) -> bool:
        """Whether the data files of a partition are examined."""
        if any(is_in(partition, one) for one in self.unlisted):
            return False
        return not self.partitions or partition in self.partitions

    def chosen(self, items: Sequence[_Item]) -> Sequence[_Item]:
        """At most `sample` of the items, spread evenly."""
        if self.sample is None or self.sample >= len(items):
            return items
        return [items[number * len(items) // self.sample] for number in range(self.sample)]
