"""The engines shipped with the suite: `registry` has their names, `support` has modules that several adapters share.

Each adapter imports the contract, `support` and the libraries of its engine. Adapters are imported only when an engine is
started. What may be changed here: which engines are shipped, and how each is asked.
"""
