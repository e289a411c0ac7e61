"""Mutants: small named faults of the reference that measure the strength of the suite.

A mutant breaks the rules that it names and nothing else. At least one case that cites one of these rules must fail while the
mutant is applied. `hudi-conformance mutants` applies one mutant at a time and records which cases kill it.

Each mutant lies in the package of the chapter of the first rule that it breaks. `harness` applies mutants and stores
outcomes. What may be changed here: mutants may be added; a changed mutant is run again. Imports `cases`, `explorer` and the
reference that it changes.
"""

from hudi_conformance.mutants.harness.mutant import Mutant, Patch, StaleMutant, UnknownMutant, all_mutants, apply_mutant, mutant

__all__ = ["Mutant", "Patch", "StaleMutant", "UnknownMutant", "all_mutants", "apply_mutant", "mutant"]
