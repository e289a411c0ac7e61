"""Tables in object stores: requests of writers, lost answers, conditional writes, and concurrent processes.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
