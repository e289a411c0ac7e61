"""Benchmarks of timelines: active and archived, short and long."""
