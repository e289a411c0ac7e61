"""The invariants that hold after every step of writers, services and readers on a table, with their rules.

To add an invariant, write a function of a `StepContext` that returns what is broken or None, and list it in
`checker.INVARIANTS`. Imports `simulation`, `history` and the reference (as a reader), and nothing of `search` or `scenarios`.
What may be changed here: what must hold after each step; every invariant names its rules.
"""
