"""Templates of adapters, which `hudi-conformance new-engine` copies. They import no module of the project."""
