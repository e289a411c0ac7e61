"""Mutants whose first broken rule is one of the rules of the timeline and of instant times (TL, TT).

What may be changed here: mutants may be added, and are run before they are committed. Imports `harness` and the code that it
changes.
"""
