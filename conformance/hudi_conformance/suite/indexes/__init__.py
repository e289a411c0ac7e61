"""The metadata table and its indexes: maintenance by writers and services, and the asynchronous build of indexes.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
