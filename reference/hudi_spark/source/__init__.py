"""The format `hudi-reference` on PySpark's Python data source: its options, filters, readers, writers and streams.

Spark calls these classes in Python processes of its own, which have no session: they use the reference, not DataFrames. What
may be changed here: which options and filters are known. Imports the other modules of `hudi_spark` and `hudi_reference`.
"""
