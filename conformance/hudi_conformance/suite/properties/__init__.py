"""Table properties: defaults and checks at creation, and the settings of the metadata table and its indexes.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
