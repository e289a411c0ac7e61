"""Mutants whose first broken rule is one of the rules of meta columns and record keys (META)."""
