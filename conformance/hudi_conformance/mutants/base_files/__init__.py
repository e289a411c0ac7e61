"""Mutants whose first broken rule is one of the rules of base files (BF)."""
