"""The Java side of the adapters of Apache Hudi: bundle, session, the bridge to Java objects, values, errors.

Both adapters use `java_bridge`; it imports the contract and `engines.support`. What may be changed here: how values and
errors cross the bridge.
"""
