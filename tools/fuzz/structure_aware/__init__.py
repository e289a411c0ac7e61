"""Inputs parsed into parts and built again, so that a mutation changes one part and lengths and checksums stay valid."""
