"""Inspections and pure functions of the contract, computed by the classes of Apache Hudi.

What may be changed here: which functions of the contract are answered. Imports `jvm`, `contract` and `cases`, and schemas of
the reference.
"""
