"""Mutants whose first broken rule is one of the rules of concurrency control (OCC, NBC)."""
