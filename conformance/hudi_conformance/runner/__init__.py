"""The pytest plugin of the suite: items, selection, results, lists of expected failures, and runs with mutants."""
