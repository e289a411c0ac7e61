"""The progress of a run in the terminal: a bar with the time left, and the matrix of the golden cases before all cases end."""
