"""Vectors: inputs and outputs of the format's pure functions.

Each value is known without the reference: from bytes that Apache Hudi wrote, from published values, by hand, or from
`indexes/independent_hashes.py`, a second implementation of the hashes and encodings that shares no code with the reference.
What may be changed here: values may be added. Imports `corpus` only.
"""
