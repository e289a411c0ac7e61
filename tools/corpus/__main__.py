"""Write the corpus below table level, or report the differences from the committed one.

    python -m tools.corpus --list
    python -m tools.corpus --only 'log.damaged-file.*'
    python -m tools.corpus --check

Every case has the same bytes each time it is written. Files that an engine wrote are frozen: they are not changed, only their
expected content is written. Without --only, cases that no module generates any more are removed.
"""

import argparse
import sys

from tools.corpus import registry, writing


def parse_arguments() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(prog="tools.corpus", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="*", help="pattern of case ids, such as 'hfile.*'")
    parser.add_argument("--list", action="store_true", help="print the cases and what they guarantee")
    parser.add_argument("--check", action="store_true", help="write nothing, report differences")
    return parser.parse_args()


def main() -> int:
    """Return 0 if all cases are as committed or were written, 1 if --check found a difference."""
    asked = parse_arguments()
    made = registry.find_cases(asked.only)
    if asked.list:
        print(*(f"{one.case.id}: {one.case.says}" for one in made), sep="\n")
        return 0
    differing = [(one, found) for one in made if (found := list(writing.find_differences(one)))]
    for one, found in differing:
        kept = asked.check or not writing.can_be_written(one)
        print(f"{'DIFFERS' if kept else 'written'}  {one.case.id}", *(f"    {line}" for line in found), sep="\n")
        if not kept:
            writing.write_case(one)
    forgotten = [] if asked.only != "*" else (writing.find_orphans if asked.check else writing.remove_orphans)(made)
    for folder in forgotten:
        print(f"{'NO SOURCE' if asked.check else 'removed'}  {folder.parent.name}.{folder.name}")
    print(f"{len(made)} cases, {len(differing)} {'differ' if asked.check else 'written'}")
    return int(asked.check and bool(differing or forgotten))


if __name__ == "__main__":
    sys.exit(main())
