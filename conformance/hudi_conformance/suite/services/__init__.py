"""Table services: cleaning, compaction, log compaction, clustering, rollback, savepoint and restore.

The tests may import the contract, the model, `suite.support` and the reference, and no other test module. What may be changed
here: tests may be added; their ids stay.
"""
