"""Concurrent writers: optimistic and non-blocking control, markers, heartbeats, replacing writes, explored interleavings.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
