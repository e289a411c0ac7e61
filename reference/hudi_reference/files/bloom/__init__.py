"""Bloom filters over record keys, in footers of base files and in the metadata table.

`bloom` reads, makes and queries filters; `bloom_hash` has the hash functions. Imports nothing of the other packages of
`files`. What may be changed here: the speed and the size of new filters; the hashes are part of the format.
"""
