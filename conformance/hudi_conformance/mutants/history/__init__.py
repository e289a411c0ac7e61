"""Mutants whose first broken rule is one of the rules of archiving and the archived timeline (ARC, LSM)."""
