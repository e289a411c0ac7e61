"""Plans of services: how they are made, stored, read and executed.

`plan_execution` is the sequence that all services share; the other modules are the plans of the services, and checks. What may
be changed here: what a plan contains. Imports `metadata`, `write` and what is below them, no other package of `services`.
"""
