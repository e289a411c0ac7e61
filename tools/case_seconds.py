"""Write the seconds of cases that `hudi-conformance run` uses to forecast how long a run takes, from the report of a run.

hudi-conformance run reference --jobs 1 --report DIR
python -m tools.case_seconds DIR
"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean

from hudi_conformance.report.saved_run import read
from hudi_conformance.runner.progress.forecast import FILE, LEAST, OTHERS, group_of

#: Seconds that pytest takes for each case, which the report does not count.
OVERHEAD = 0.01


def seconds_of(folder: Path) -> dict[str, float]:
    """The mean seconds of a case by group; groups whose cases take less than `LEAST` share one entry."""
    groups: dict[str, list[float]] = defaultdict(list)
    for result in read(folder)[1]:
        if result.engine == "reference":
            groups[group_of(result.node)].append(result.seconds + OVERHEAD)
    slow = {name: round(mean(found), 2) for name, found in sorted(groups.items()) if mean(found) >= LEAST}
    return {OTHERS: round(mean(s for name, found in groups.items() if name not in slow for s in found), 4), **slow}


def main() -> None:
    FILE.write_text(json.dumps(seconds_of(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
