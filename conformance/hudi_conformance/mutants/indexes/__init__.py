"""Mutants whose first broken rule is one of the rules of the metadata table and indexes (MDT, IDX, INX).

What may be changed here: mutants may be added, and are run before they are committed. Imports `harness` and the code that it
changes.
"""
