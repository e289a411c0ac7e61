"""Log files: blocks of every format, values of every type, partial updates, and columns matched by id.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
