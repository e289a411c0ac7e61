"""Bloom filter hashes of many keys at once. `bloom_hash.bits_of_many` chooses between this code and the plain one.

What may be changed here: the speed; the hashes are those of the plain code. Imports no other package of the project.
"""
