"""Producers of golden tables: the reference and Apache Hudi, and what both use to make a table."""
