"""Functions, time zones and keys of the indexes that users name.

The tests may import the contract, `suite.support` and the reference, and no other test module. What may be changed here: tests
may be added; their ids stay.
"""
