"""Modules that several adapters share: environments, how an engine is started, canonical values, paused work.

Imports the contract only; `avro_values` and `metadata_json` also import the reference. What may be changed here: what several
adapters need.
"""
