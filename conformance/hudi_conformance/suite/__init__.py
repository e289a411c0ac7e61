"""Cases that are programs: they write through an engine and compare what it, or another one, reads with the model."""
