"""Merging of versions: merge modes, payload classes, custom mergers, and tables that two engines write.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
