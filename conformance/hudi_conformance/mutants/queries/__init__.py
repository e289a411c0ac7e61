"""Mutants whose first broken rule is one of the rules of table and query types, and of readers (TYP, RDR)."""
