"""Mutants whose first broken rule is one of the rules of the timeline and of instant times (TL, TT)."""
