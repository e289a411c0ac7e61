"""Pages of `docs/` that come from the tables in the code."""
