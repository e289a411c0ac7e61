"""Building blocks of pages: time axis, picture of a file, hex dump, heading and facts, rows."""
