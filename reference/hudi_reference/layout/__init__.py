"""Files and names below the base path of a table: properties, data file names, partitions (spec "Storage Layout", "Table
Properties").

`property_table`, `merge_config` and `merge_settings` are tables that code, checks and docs/properties.md read. Imports
storage, locks, clock and errors; nothing of the timeline. What may be changed here: which properties and names are known.
"""
