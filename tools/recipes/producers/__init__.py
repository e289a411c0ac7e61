"""Producers of golden tables: the reference and Apache Hudi, and modules that both use."""
