"""Clients of a real object store protocol: their HTTP requests pass through a proxy that orders them and injects faults.

The clients are the reference in threads, or engines as processes. Schedules have the format of `simulation.schedule_file`.
Imports `simulation`, `drawing` and the contract with engines. What may be changed here: how requests of clients are ordered
and recorded.
"""
