"""Base files and file slices: file names, write tokens, Parquet footers, bloom filters, orphan files of failed attempts.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
