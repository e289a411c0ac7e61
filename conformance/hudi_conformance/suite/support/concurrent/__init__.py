"""Concurrent processes on one table: paused writers, lock providers and their services, object stores, explored scenarios.

* `concurrent_table`: writers and services of an engine that a test pauses and resumes by name.
* `slow_writers`, `pending_writes`, `competing_writers`: writers of the reference beside an engine.
* `lock_fixtures`, `lock_properties`, `lock_services`, `recorded_locks`: locks and their properties.
* `explored_scenarios`, `in_process`, `object_store`: processes of the reference in a chosen order.

What may be changed here: how processes are paused and resumed. Imports `programs`, `tables`, the contract, the explorer and
the reference.
"""
