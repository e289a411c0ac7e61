"""Vectors of indexes: keys and records of the metadata table, hashes, bloom filters, position bitmaps, index functions."""
