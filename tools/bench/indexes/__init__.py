"""Benchmarks of indexes: the plan of a filter over many files or partitions, and what each index adds to a write.

What may be changed here: what is measured. Imports `bench` and the reference.
"""
