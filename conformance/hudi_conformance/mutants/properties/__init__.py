"""Mutants whose first broken rule is one of the rules of table properties (PROP).

What may be changed here: mutants may be added, and are run before they are committed. Imports `harness` and the code that it
changes.
"""
