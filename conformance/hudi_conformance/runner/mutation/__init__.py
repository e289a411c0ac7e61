"""Runs of the suite on mutants of the reference: named ones, and ones that are drawn at random."""
