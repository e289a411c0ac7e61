"""Benchmarks of indexes: the plan of a filter over many files or partitions, and what each index adds to a write."""
