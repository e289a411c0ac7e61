"""Mutants whose first broken rule is one of the rules of merging, payload classes and record mergers (MRG, PAY, API)."""
