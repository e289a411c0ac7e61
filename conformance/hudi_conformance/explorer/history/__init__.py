"""Histories of concurrent operations, and the anomalies that snapshot isolation and serialisability exclude.

Plain data: imports nothing of the explorer, so that histories of any engine can be checked. What may be changed here: which
anomalies are found.
"""
