"""Commands for engines and their adapters: engines, doctor, smoke, new-engine, object-store.

What may be changed here: options and texts of these commands. Imports `engines`, `contract`, `explorer` and `templates`.
"""
