"""Mutants whose first broken rule is one of the rules of other table versions (COMPAT)."""
