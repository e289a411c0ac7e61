"""Benchmarks: ratios between the reference and other implementations, measured in one run. No test depends on a time.

`python -m tools.bench` measures tables: it creates them, starts a worker process for each engine, compares the rows of all
workers, then runs each task on each engine for five rounds, and prints medians of CPU seconds and wall seconds. `python -m
tools.bench.files` measures single files: decoding of log blocks, lookups in HFiles, memory, bloom filters. `python -m
tools.bench.schedules` measures the explorer: CPU time for a step, orders of two writers per second. `python -m
tools.bench.spark` measures the Spark engine, against Apache Hudi's datasource and Spark's own Parquet reader. `python -m
tools.bench.timeline` measures active and archived timelines of 2,000 and of 100,000 actions. What may be changed here: what
is measured; results of different code are not compared. Imports the project, and the engines that it measures.
"""
