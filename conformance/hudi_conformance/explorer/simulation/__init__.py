"""Runs of processes on a simulated store, one request at a time, in a given order.

A state is a value, and programs depend only on their answers, so that a run can be continued from any of its points. This
package knows neither tables nor invariants nor searches: it imports only the reference, for its protocols. What may be
changed here: what the simulated store and clock can do.
"""
