"""The format `hudi-reference` on PySpark's Python data source: its options, filters, readers, writers and streams.

Spark calls these classes in Python processes of its own, which have no session: they use the reference, not DataFrames.
"""
