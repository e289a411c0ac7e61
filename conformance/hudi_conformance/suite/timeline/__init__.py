"""The timeline: states of actions, instant times, completion metadata, and clocks that are wrong.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
