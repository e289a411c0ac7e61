"""First-order mutants of the reference that are drawn at random: small changes of its syntax trees, chosen by a seed."""
