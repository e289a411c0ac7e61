"""Mutants whose first broken rule is one of the rules of log files and log blocks (LF, BLK)."""
