"""Table services: each makes a plan, publishes it, and executes it.

`default_hooks` lists the services that writes trigger. What may be changed here: what a service does. Imports `metadata` and
what is below it; only `tables` imports services.
"""
