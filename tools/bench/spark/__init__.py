"""Benchmarks of the Spark engine, against Apache Hudi's datasource and Spark's own Parquet reader."""
