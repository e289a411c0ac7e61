"""The metadata table: indexes of files, columns and records, kept as a table of their own below `.hoodie/metadata`."""
