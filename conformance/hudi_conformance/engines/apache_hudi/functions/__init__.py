"""Inspections and pure functions of the contract, computed by the classes of Apache Hudi."""
