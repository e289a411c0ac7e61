"""Pages of `docs/` that are generated from the tables in the code.

What may be changed here: what a page shows; its facts come from tables in the code. Imports the reference and the suite.
"""
