"""Benchmarks of single files: decoding of log blocks, lookups in HFiles, memory, bloom filters.

What may be changed here: what is measured. Imports `bench`, `corpus` and `files` of the reference.
"""
