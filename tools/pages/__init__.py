"""Pages of `docs/` that are generated from the tables in the code."""
