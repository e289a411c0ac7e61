"""Benchmarks of timelines: active and archived, short and long.

What may be changed here: what is measured. Imports `bench` and `timeline` of the reference.
"""
