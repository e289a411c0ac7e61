"""Commands of the suite: run, explore, fixtures, coverage, mutants, explain."""
