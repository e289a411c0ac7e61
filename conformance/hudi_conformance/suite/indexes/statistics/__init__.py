"""Statistics of columns and partitions, and the filters that leave out files by them.

The tests may import the contract, `suite.support` and the reference, and no other test module. What may be changed here: tests
may be added; their ids stay.
"""
