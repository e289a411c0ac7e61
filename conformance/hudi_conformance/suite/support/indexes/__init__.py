"""Tables with indexes that users name. The modules import `programs`, `tables`, the contract and the reference, and no test.

What may be changed here: which tables and indexes are made; cases that use them are run again.
"""
