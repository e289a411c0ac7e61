"""First-order mutants of the reference that are drawn at random: small changes of its syntax trees, chosen by a seed.

What may be changed here: which operators are drawn, and the triage of survivors. Imports no other package of the project.
"""
