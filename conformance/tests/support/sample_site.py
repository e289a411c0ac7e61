"""The content of a small site: the published results of some cases."""

from dataclasses import replace

from hudi_conformance.report.evidence.evidence import gather
from hudi_conformance.report.site.content import Content
from hudi_conformance.runner import expected_failures

_LISTS = {path.stem: expected_failures.load(path.stem, path) for path in sorted(expected_failures.root().glob("*.toml"))}

#: The entries of each engine with known failures.
FAILURES = {name: tuple(known.entries.values()) for name, known in _LISTS.items() if known.entries}

#: The whole site.
WHOLE = Content(gather(), FAILURES)

#: A site of the merge cases and of some Python cases.
CONTENT = Content(
    replace(gather(), cases=tuple(c for c in gather().cases if c.id.startswith(("merge.delete", "test_windows")))), FAILURES
)
