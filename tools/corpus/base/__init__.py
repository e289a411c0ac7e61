"""Base files of Parquet and ORC, and single files that writers of Apache Hudi wrote.

What may be changed here: cases may be added. Imports `corpus`, and the adapter of Apache Hudi for files that it writes.
"""
