"""Mutants whose first broken rule is one of the rules of table services (SVC, CLN, CMP, LCP, CLU)."""
