"""Bloom filter hashes of many keys at once. `bloom_hash.bits_of_many` chooses between this code and the plain one."""
