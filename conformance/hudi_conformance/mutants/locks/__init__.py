"""Mutants whose first broken rule is one of the rules of lock providers (LOCK)."""
