"""A small report with every outcome, made by hand."""

from hudi_conformance.cases.verdict import Outcome, Result
from hudi_conformance.report.run import EngineRun, Run

ENGINES = (
    EngineRun("reference", "0.1.0", "python", ("read.snapshot",)),
    EngineRun("apache-hudi@1.0.2", "1.0.2", "java", ("read.snapshot",)),
    EngineRun("broken", failed_start="no such program"),
)

CHAPTERS = {
    "merge": "merging",
    "log": "log_format",
    "model": "model",
    "test_s3::one": "object_storage",
    "test_s3::two": "object_storage",
}


def result(case: str, engine: str, outcome: str, **more: object) -> Result:
    """A result of a case that cites one rule."""
    known = {"requirements": ("MRG-029",), "description": f"What {case} guarantees.", "because": "Compare before replacing."}
    return Result(case, engine, Outcome(outcome), CHAPTERS[case.partition(".")[0]], **(known | more))  # type: ignore[arg-type]


LATE = ({"id": "1", "name": "new", "ts": "10"}, {"id": "1", "name": "late <b>", "ts": "9"})
GONE = ({"id": "2", "name": None, "ts": "1"}, None)

RESULTS = [
    result("merge.late", "reference", "pass"),
    result("merge.late", "apache-hudi@1.0.2", "fail", message="1 changed (id=1); 1 missing (id=2)", pairs=(LATE, GONE),
           flags=("silent-stale",), errata=("ER-003",), surprise="not in the list of expected failures"),
    result("merge.known", "reference", "pass"),
    result("merge.known", "apache-hudi@1.0.2", "error", message="boom", detail="boom\nat Some.java", listed="a known fault"),
    result("log.block", "reference", "open", message="2 rows"),
    result("log.block", "apache-hudi@1.0.2", "refused", message="refused log.hfile: no"),
    result("log.other", "reference", "pass"),
    result("log.other", "apache-hudi@1.0.2", "unsupported", message="not offered: log.hfile"),
    result("model.program", "reference", "timeout", message="30 s", surprise="not in the list"),
    result("model.program", "apache-hudi@1.0.2", "crash", message="gone", surprise="not in the list"),
]  # fmt: skip

RUN = Run(
    ENGINES, 20261121, "2026-11-21 12:00:00 UTC", 61.5, complete=True, stale=("list.toml: merge.x: there is no such case",),
    table_versions=(8, 9),
)  # fmt: skip

#: Published outcomes of cases of this report, in place of the recorded ones.
PUBLISHED = {
    "apache-hudi@1.0.2": {"merge.late": "fail", "merge.known": "error", "log.block": "refused"},
    "apache-hudi@1.2.0": {"merge.late": "pass", "merge.known": "error", "log.block": "open"},
    "hudi-rs": {"merge.late": "fail", "log.block": "unsupported", "model.program": "timeout"},
    "reference": {"merge.late": "pass", "merge.known": "pass", "log.block": "open", "model.program": "pass"},
    "spark": {"merge.late": "pass", "merge.known": "pass", "log.block": "open"},
}
