"""Benchmarks of single files: decoding of log blocks, lookups in HFiles, memory, bloom filters."""
