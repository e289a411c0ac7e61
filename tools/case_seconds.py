"""Write the seconds of cases that `hudi-conformance run` uses to forecast how long a run takes, from the report of a run.

hudi-conformance run reference --jobs 1 --report DIR
python -m tools.case_seconds DIR
"""

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import defaultdict
from pathlib import Path
from statistics import mean

from hudi_conformance.report.saved_run import read_report
from hudi_conformance.runner.progress.forecast import FILE, LEAST, OTHERS, timing_group

#: Seconds that pytest takes for each case, which the report does not count.
OVERHEAD = 0.01


def mean_seconds(folder: Path) -> dict[str, float]:
    """The mean seconds of a case by group; groups whose cases take less than `LEAST` share one entry."""
    groups: dict[str, list[float]] = defaultdict(list)
    for result in read_report(folder)[1]:
        if result.engine == "reference":
            groups[timing_group(result.node)].append(result.seconds + OVERHEAD)
    slow = {name: round(mean(found), 2) for name, found in sorted(groups.items()) if mean(found) >= LEAST}
    return {OTHERS: round(mean(s for name, found in groups.items() if name not in slow for s in found), 4), **slow}


def main() -> None:
    """Read the report that is named on the command line, and write the seconds."""
    parser = ArgumentParser(
        prog="python -m tools.case_seconds", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("report", metavar="DIR", type=Path, help="folder of the report of a run of the reference")
    arguments = parser.parse_args()
    FILE.write_text(json.dumps(mean_seconds(arguments.report), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
