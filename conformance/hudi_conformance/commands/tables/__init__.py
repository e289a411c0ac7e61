"""Commands on one table: read, inspect, service, migrate.

What may be changed here: options and texts of these commands. Imports `render`, `report`, `validator` and `hudi_reference`.
"""
