"""Log files, built byte by byte: valid and damaged ones.

What may be changed here: cases may be added. Imports `corpus` only.
"""
