"""Adapters to start from: files that `hudi-conformance new-engine` copies. They import nothing of ours."""
