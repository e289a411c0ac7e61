"""Hostile input against the whole project: the table of what was tried, what held, and what broke.

`paths` puts hostile texts into tables, `areas` runs the tests and tools that exist already. What may be changed here:
attempts may be added. Imports the reference.
"""
