"""Mutants of schemas that change between the files of a table."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.schema import promotion, reconcile
from hudi_reference.write.placement import rows


@mutant(breaks="LF-038")
def float_widening_by_value(patch: Patch) -> None:
    """Widens the floats of base files and logs to doubles by value, and their integers as texts."""
    patch.edit(promotion._widen_float, "if pt.is_floating(array.type):", "if False:")
    patch.edit(promotion._text, "texts_of(array).cast(wanted)", "pc.cast(pc.cast(array, pa.float64()), wanted)")


@mutant(breaks="LF-038")
def column_types_narrowed(patch: Patch) -> None:
    """Gives a column the type of the latest rows, whatever its type was."""
    patch.edit(reconcile._type, "if can_promote(wanted, found):", "if True:")
    patch.edit(rows._check_types, "if not fits(found.type, wanted) or", "if False and")
