"""The indexes that are maintained: one module for each, with all its entries and those that an action changes.

`index` says what an index is, `all` lists them. To add one, add a module, and its `Index` to the table in `all`.
What may be changed here: which entries an index has; when they are stored is decided in `services/metadata_table`. Imports
`metadata`, `query`, `files` and what is below them.
"""
