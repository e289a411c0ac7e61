"""Records and keys: key generators, bucket indexes, and tables without meta columns.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
