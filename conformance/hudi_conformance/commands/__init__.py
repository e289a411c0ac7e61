"""The commands of `hudi-conformance`, one module each; `cli` puts them together."""
