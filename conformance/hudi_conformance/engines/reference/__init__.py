"""The adapter of the reference: `engine` has the operations, the other modules implement inspections, functions and services.

Imports the contract and `hudi_reference`, which no other package of the suite except `faulty`, `render` and the commands of
tables needs. What may be changed here: how messages of the contract become calls of the reference.
"""
