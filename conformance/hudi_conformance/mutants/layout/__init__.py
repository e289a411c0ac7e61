"""Mutants whose first broken rule is one of the rules of the table layout (LAY)."""
