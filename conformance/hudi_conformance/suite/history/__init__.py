"""The archived timeline: when archiving runs, what it keeps, its files and manifests, and crashes of archiving.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
