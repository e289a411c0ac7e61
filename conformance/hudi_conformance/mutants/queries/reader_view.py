"""Mutants of the view of a reader: instants, file groups, slices, and logs."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference import locks
from hudi_reference.query import table


@mutant(breaks="RDR-004")
def reader_takes_table_lock(patch: Patch) -> None:
    """Takes the table lock to read the timeline."""
    patch.set(locks.InProcessLock.__init__, "__defaults__", (0.2,))
    patch.edit(
        table.Table.view,
        "earlier = None",
        "from hudi_reference.locks import held, lock_of\n"
        "    with hold_lock(lock_of(self.storage), 'a reader'):\n"
        "        pass\n"
        "    earlier = None",
    )
