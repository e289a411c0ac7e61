"""Mutants whose first broken rule is one of the rules of the metadata table and indexes (MDT, IDX, INX)."""
