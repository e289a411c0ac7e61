"""Benchmarks of the Spark engine, against Apache Hudi's datasource and Spark's own Parquet reader.

What may be changed here: what is measured. Imports `bench`, `hudi_spark`, the reference and the adapter of Apache Hudi.
"""
