"""Vectors of indexes: keys and records of the metadata table, hashes, bloom filters, position bitmaps, index functions.

What may be changed here: values may be added. Imports `corpus`, and the reader of HFiles of the reference, for files that
Apache Hudi wrote.
"""
