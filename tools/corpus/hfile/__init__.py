"""HFiles, built block by block: valid and damaged ones.

What may be changed here: cases may be added. Imports `corpus` only.
"""
