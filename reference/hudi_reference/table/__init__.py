"""Tables: file groups, queries and writes."""
