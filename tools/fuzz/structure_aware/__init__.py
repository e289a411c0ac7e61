"""Inputs taken apart and put together again, so that a mutation changes one part and lengths and checksums stay valid."""
