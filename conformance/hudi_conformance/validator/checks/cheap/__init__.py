"""Checks of the cheap tier: from listing, timeline, footers and the headers of log blocks."""
