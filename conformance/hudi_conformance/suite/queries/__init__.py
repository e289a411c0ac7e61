"""Queries: projections, filters, time travel, incremental windows and change capture, also on damaged tables.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
