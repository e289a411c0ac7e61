"""The content of a small site: the published results of some cases."""

from dataclasses import replace

from hudi_conformance.report.evidence.evidence import gather_evidence
from hudi_conformance.report.site.content import Content
from hudi_conformance.runner import expected_failures

_LISTS = {
    path.stem: expected_failures.load_list(path.stem, path) for path in sorted(expected_failures.lists_folder().glob("*.toml"))
}

#: The entries of each engine with known failures.
FAILURES = {name: tuple(known.entries.values()) for name, known in _LISTS.items() if known.entries}

#: The whole site.
WHOLE = Content(gather_evidence(), FAILURES)

#: A site of the merge cases and of some Python cases.
CONTENT = Content(
    replace(
        gather_evidence(), cases=tuple(c for c in gather_evidence().cases if c.id.startswith(("merge.delete", "test_windows")))
    ),
    FAILURES,
)
