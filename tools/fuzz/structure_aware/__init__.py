"""Inputs parsed into parts and built again, so that a mutation changes one part and lengths and checksums stay valid.

What may be changed here: which parts of an input are changed. Imports `corpus` and `files` of the reference.
"""
