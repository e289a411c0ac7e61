"""Log files, built byte by byte: valid and damaged ones."""
