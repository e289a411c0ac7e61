"""Planted bugs: small named faults of the reference that measure the strength of the suite.

Each breaks the rules that it names and nothing else. A case that cites one of these rules has to fail while the bug is
planted; `hudi-conformance mutants` shows whether one does.
"""

from hudi_conformance.mutants.harness.mutant import Bug, Mutant, StaleMutant, UnknownMutant, all_mutants, plant, planted

__all__ = ["Bug", "Mutant", "StaleMutant", "UnknownMutant", "all_mutants", "plant", "planted"]
