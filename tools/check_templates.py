"""Build the templates of `new-engine`, and run smoke and the golden copy-on-write snapshot cases on each.

    python -m tools.check_templates [--builds DIR] [LANGUAGE ...]

It fails if a template cannot be built, if smoke finds a fault, or if an answer is neither right nor refused. Builds are kept in
DIR, so that a second run is fast.
"""

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.verdict import Outcome, Result, describe_missing_features, judge_answer
from hudi_conformance.engines.registry import connect
from hudi_conformance.runner.golden_cases import ask_engine
from hudi_conformance.templates import TEMPLATES, Template

#: Outcomes of a correct template. An open case has no agreed answer.
CORRECT = (Outcome.PASS, Outcome.REFUSED, Outcome.UNSUPPORTED, Outcome.OPEN)

#: Builds that are not needed here: the packages of the Python template are dependencies of this project.
INSTALLED = ("python",)


def copy_on_write_snapshots() -> list[cases.Case]:
    """The golden cases that ask for a snapshot of a copy-on-write table."""
    return [case for case in cases.find_cases() if {"read.snapshot", "copy-on-write"} <= {*case.needs}]


def judge_adapter(command: str) -> list[Result]:
    """The results of these cases on an adapter; cases that need undeclared features are not asked."""
    with connect(command) as engine:
        hello = engine.hello
        answers = (
            (case, ask_engine(engine, case) if describe_missing_features(case.needs, hello) is None else None)
            for case in copy_on_write_snapshots()
        )
        return [judge_answer(case, command, hello, answer) for case, answer in answers]


def write_template(template: Template, folder: Path) -> None:
    """Write the files as `new-engine` does, but replace older ones; unchanged files keep their time of change."""
    for name in template.files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != template.text(name):
            path.write_text(template.text(name), encoding="utf-8")


def check_template(template: Template, folder: Path) -> bool:
    """Whether the template can be built and is correct; prints what was found."""
    write_template(template, folder)
    os.chdir(folder)
    start = time.monotonic()
    if template.language not in INSTALLED and subprocess.run(template.build, shell=True, check=False).returncode:
        print(f"{template.language}: the build failed: {template.build}")
        return False
    seconds = time.monotonic() - start
    smoke = subprocess.run(["hudi-conformance", "smoke", template.adapter], check=False)
    results = judge_adapter(template.adapter)
    wrong = [result for result in results if result.outcome not in CORRECT]
    for result in wrong:
        print(f"{template.language}: {result.outcome.label}: {result.case}: {result.message}")
    lines = len(template.text(template.files[0]).splitlines())
    counts = Counter(result.outcome.label for result in results)
    print(f"{template.language}: {lines} lines, built in {seconds:.0f} s, smoke {smoke.returncode}, {dict(counts)}", flush=True)
    return not wrong and not smoke.returncode and counts["pass"] > len(results) / 2


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The folder of the builds, and the languages: all of them if none is named."""
    parser = argparse.ArgumentParser(prog="python -m tools.check_templates", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--builds", type=Path, default=Path("/tmp/hudi-conformance-templates"), metavar="DIR")
    parser.add_argument("languages", nargs="*", default=[], choices=[*TEMPLATES, []], metavar="LANGUAGE")
    given = parser.parse_args(arguments)
    given.languages = given.languages or list(TEMPLATES)
    return given


def main() -> int:
    """The exit status."""
    given = parse_arguments()
    builds = given.builds.resolve()
    correct = [check_template(TEMPLATES[language], builds / language) for language in given.languages]
    return 0 if all(correct) else 1


if __name__ == "__main__":
    sys.exit(main())
