"""The process with Apache Hudi 1.2.0: makes drawn tables in one session and writes down its answers.

    PYTHON -m tools.drawn_tables.maker FOLDER SEED KINDS NUMBER…

Each table is in `FOLDER/<number>/table`, with `made.json`: the actions of each step, and the queries with the answers.
"""

import json
import pickle
import shutil
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyarrow import feather
from tools.drawn_tables.drawing import Drawn, draw
from tools.drawn_tables.questions import WRITES, completed_actions, queries_of
from tools.recipes.producers.apache_hudi import Making, root_cause

from hudi_conformance.engines.apache_hudi import queries
from hudi_conformance.engines.apache_hudi.jvm.session import Session


class DrawnMaking(Making):
    """One drawn table while it is written; a step that fails is noted, and the next one follows."""

    def __init__(self, session: Session, drawn: Drawn, folder: Path) -> None:
        super().__init__(session, drawn.recipe, folder)
        self.done: list[dict[str, Any]] = []

    def run(self) -> list[str]:
        """Run all steps."""
        for step in self.recipe.steps:
            before, error = self.completed(), None
            self.columns = step.columns or self.columns
            try:
                self._act(step)
            except Exception as failure:
                error = root_cause(failure)
            new = sorted(self.completed() - before)
            self.done.append({"new": new, "error": error})
            writes = [requested for requested, action, _ in new if action in WRITES]
            self.instants.append(writes[0] if writes else self.instants[-1] if self.instants else "0" * 17)
        if self.registered:
            self.spark.sql(f"DROP TABLE IF EXISTS {self.name}")
        return self.instants

    def completed(self) -> set[tuple[str, str, str]]:
        """Requested time, action and completion time of what is on the active timeline."""
        return completed_actions(self.path / self.timeline)


def make(session: Session, drawn: Drawn, folder: Path, kinds: Sequence[str]) -> None:
    """Write one table, and the answers of Apache Hudi to the queries of these kinds that are not limited."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "drawn.pickle").write_bytes(pickle.dumps(drawn))
    making = DrawnMaking(session, drawn, folder)
    making.run()
    asked = []
    for number, query in enumerate(queries_of(drawn, making.done)):
        answer: dict[str, Any] = {"query": query.to_json()}
        asked.append(answer)
        if query.kind not in kinds or query.begin is not None or query.where:
            continue
        try:
            rows = session.collect(queries.frame(session, f"file://{making.path}", query))
            feather.write_feather(rows, str(folder / f"answer-{number}.arrow"))
        except Exception as error:
            answer["error"] = root_cause(error)
    made = {"axes": drawn.axes, "steps": making.done, "asked": asked}
    (folder / "made.json").write_text(json.dumps(made, indent=1))


def main() -> None:
    """Make the tables that the command line names."""
    out, seed, kinds, *numbers = sys.argv[1:]
    session = Session("1.2.0")
    for number in numbers:
        try:
            make(session, draw(int(number), int(seed)), Path(out) / number, kinds.split(","))
            print(f"made {number}", flush=True)
        except Exception:
            print(f"failed {number}: {traceback.format_exc(limit=-3)}", flush=True)
    session.stop()


if __name__ == "__main__":
    main()
