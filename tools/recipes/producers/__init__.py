"""Producers of golden tables: the reference and Apache Hudi, and the modules that write and compare cases.

What may be changed here: how a recipe is carried out by an engine. Imports `recipes`, the reference and the adapter of Apache
Hudi.
"""
