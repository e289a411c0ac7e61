"""Bloom filters over record keys, in footers of base files and in the metadata table.

`bloom` reads, makes and queries filters; `bloom_hash` has the hash functions. Imports nothing of the other packages of `files`.
"""
