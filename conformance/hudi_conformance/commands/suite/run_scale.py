"""`hudi-conformance run ENGINE... --scale ROWS`: engines on a table of millions of rows, compared by digests of the rows."""

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hudi_conformance.commands.exit_codes import AS_EXPECTED, BROKEN, DIFFERENT, USAGE
from hudi_conformance.contract import ContractError
from hudi_conformance.report.console import make_console
from hudi_conformance.scale.comparison import FailedWriter, NoWriter, Verdict, compare
from hudi_conformance.scale.workload import Workload

#: Groups of a wrong answer that are printed.
SHOWN = 3


def run_scale(console: Console, names: Sequence[str], rows: int, seed: int, report: Path) -> int:
    """Compare engines on large tables, print the matrix, and write `scale.json`; the exit code of the command."""
    workload, steps = Workload.draw(rows, seed), make_console(errors=True)

    def show(line: str) -> None:
        steps.print(f"{time.strftime('%T')}  {line}", markup=False, soft_wrap=True)

    console.print(f"{rows:,} rows · seed {seed} · {workload.newest} commits", markup=False)
    try:
        with tempfile.TemporaryDirectory(prefix="hudi-conformance-scale-") as folder:
            found = list(compare(names, workload, Path(folder), show))
    except NoWriter as error:
        console.print(str(error), style="red", markup=False)
        return USAGE
    except ContractError as error:
        console.print(f"an engine did not start: {error}", style="red", markup=False)
        return BROKEN
    verdicts = [one for one in found if isinstance(one, Verdict)]
    failed = [one for one in found if isinstance(one, FailedWriter)]
    console.print(_matrix(verdicts))
    _show_failures(console, verdicts, failed)
    report.mkdir(parents=True, exist_ok=True)
    (report / "scale.json").write_text(json.dumps(_as_json(rows, seed, verdicts, failed), indent=2) + "\n", encoding="utf-8")
    result = DIFFERENT if failed or any(one.is_failure for one in verdicts) else AS_EXPECTED
    console.print(f"\nreport: {report / 'scale.json'}   exit {result}", markup=False)
    return result


def _matrix(verdicts: Sequence[Verdict]) -> Table:
    """Questions of each table by engines, with seconds."""
    readers = list(dict.fromkeys(one.reader for one in verdicts))
    table = Table("table of", "query", *readers, title="rows read as expected, seconds")
    cells = {(one.writer, one.answer.question, one.reader): one for one in verdicts}
    for writer, question in dict.fromkeys((one.writer, one.answer.question) for one in verdicts):
        table.add_row(writer, question, *(_cell(cells[writer, question, reader]) for reader in readers))
    return table


def _cell(verdict: Verdict) -> Text:
    seconds = f"{verdict.answer.seconds:.0f} s"
    if verdict.answer.refused is not None:
        return Text(f"refused  {seconds}", style="cyan")
    if verdict.answer.error is not None:
        return Text(f"error  {seconds}", style="yellow")
    if verdict.differences:
        return Text(f"wrong in {len(verdict.differences)} groups  {seconds}", style="bold red")
    return Text(f"right  {seconds}", style="green")


def _show_failures(console: Console, verdicts: Sequence[Verdict], failed: Sequence[FailedWriter]) -> None:
    for writer in failed:
        console.print(f"{writer.writer} did not write its table: {writer.error}", style="red", markup=False)
    for one in verdicts:
        if not one.is_failure:
            continue
        console.print(f"\n{one.reader}, table of {one.writer}, {one.answer.question}", style="bold", markup=False)
        if one.answer.error is not None:
            console.print(f"  error     {one.answer.error}", markup=False)
        for group, expected, found in one.differences[:SHOWN]:
            console.print(f"  {group}", markup=False)
            console.print(f"    expected  {_text(expected)}\n    found     {_text(found)}", markup=False)
        if len(one.differences) > SHOWN:
            console.print(f"  … and {len(one.differences) - SHOWN} more groups", markup=False)


def _text(digest: Any) -> str:
    return "no rows" if digest is None else f"{digest.rows:,} rows, sum of hashes {digest.sum}"


def _as_json(rows: int, seed: int, verdicts: Sequence[Verdict], failed: Sequence[FailedWriter]) -> dict[str, Any]:
    """The outcomes as a JSON object."""
    answers = [
        {
            "table": one.writer,
            "engine": one.reader,
            "query": one.answer.question,
            "right": one.is_right,
            "seconds": round(one.answer.seconds, 1),
            "refused": one.answer.refused,
            "error": one.answer.error,
            "different_groups": [group for group, _, _ in one.differences],
        }
        for one in verdicts
    ]
    return {"rows": rows, "seed": seed, "failed_writers": {one.writer: one.error for one in failed}, "answers": answers}
