"""Producers of golden tables: the reference and Apache Hudi, and the modules that write and compare cases."""
