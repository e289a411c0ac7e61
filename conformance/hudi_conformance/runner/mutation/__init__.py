"""Runs of the suite on mutants of the reference: named ones, and ones that are drawn at random.

What may be changed here: in which order cases are tried, and what is recorded. Imports `mutants`, `report.evidence`, `cases`
and `processes`.
"""
