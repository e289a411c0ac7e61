"""Tables of version 6: writes, rollbacks and restores on them, and their migration to version 8.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
