"""Mutants whose first broken rule is one of the rules of object storage (S3)."""
