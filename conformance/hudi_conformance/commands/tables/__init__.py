"""Commands on one table: read, inspect, service, migrate."""
