"""What came of a run, and what the suite covers, for people and for machines."""
