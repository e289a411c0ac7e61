"""Real processes on one table, killed at random: `python -m tools.chaos --seconds 3600`.

Writers, services and readers are processes of their own. Each is killed with SIGKILL after a random time and started again, on
tables of versions 8 and 9, of both types, under two lock providers, in folders and in an object store (moto's server). At the
end the judge of histories checks every answer. The order of the processes is that of the machine: the seed decides what they do
and when they are killed, not how they interleave.

    python -m tools.chaos --seconds 60 --seed 7
    python -m tools.chaos --mutant table-lock-not-taken          must fail
    python -m tools.chaos --mutant conflict-check-skipped        must fail
    python -m tools.chaos --mutant writer-without-heartbeats --mutant write-and-rollback-both-complete    must fail

A writer without heartbeats alone only aborts, because it checks that it was not rolled back before it completes.
"""

import argparse
import json
import multiprocessing
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

from tools.chaos.judgement import FINAL_READ, judge, read_journals
from tools.chaos.object_store import ObjectStore, uri_of
from tools.chaos.worker import LOCK_FILE, Setting, Worker

from hudi_conformance.processes.session import command_session, end_with_parent

#: Roles of the processes that work at the same time.
ROLES = ("write", "write", "write", "maintain", "recover", "read")
#: Tables of a run: version, type, lock provider, and whether the table is in the object store.
TABLES = (
    (8, "copy-on-write", "file-system", False),
    (9, "merge-on-read", "file-system", False),
    (8, "merge-on-read", "storage", False),
    (9, "copy-on-write", "storage", False),
    (9, "merge-on-read", "storage", True),
)
#: Seconds of one table, unless the run is shorter.
ROUND = 60.0
#: A process is killed after up to so many seconds.
LONGEST = 20.0
#: Seconds in which the final read must succeed.
FINAL = 60.0
_fork = multiprocessing.get_context("fork")


def main() -> int:
    """Run; exit code 1 if the judge finds anything."""
    parser = argparse.ArgumentParser(prog="python -m tools.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long processes work, all tables together")
    parser.add_argument("--seed", type=int, default=None, help="default: the time")
    parser.add_argument("--mutant", action="append", default=[], help="a mutant of the reference that all processes have")
    parser.add_argument("--keep", type=Path, help="folder for tables and journals; default: a temporary one")
    chosen = parser.parse_args()
    seed = int(time.time()) if chosen.seed is None else chosen.seed
    print(f"seed {seed}", flush=True)
    wrong, rounds = 0, max(len(TABLES), round(chosen.seconds / ROUND))
    with command_session(), ObjectStore() as store:
        for number in range(rounds):
            folder = Path(chosen.keep or tempfile.mkdtemp()) / f"round-{number}"
            folder.mkdir(parents=True)
            version, kind, provider, is_stored = TABLES[number % len(TABLES)]
            place = (uri_of(folder), store.endpoint) if is_stored else (str(folder / "table"), None)
            setting = Setting(folder, version, kind, provider, chosen.mutant, seed + number, *place)
            wrong += Round(setting, store).run(chosen.seconds / rounds)
            if not chosen.keep:
                shutil.rmtree(folder)
    print(f"{wrong} wrong; seed {seed}")
    return 1 if wrong else 0


@dataclass
class Round:
    """The processes on one table."""

    setting: Setting
    store: ObjectStore
    running: dict[BaseProcess, tuple[str, float]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    kills: int = 0

    def run(self, seconds: float) -> int:
        """Let processes work for that time, and judge; the number of anomalies, which are printed."""
        self._alone("create")
        chance, end = random.Random(self.setting.seed), time.monotonic() + seconds
        for role in ROLES:
            self._start(role, chance)
        while time.monotonic() < end:
            time.sleep(0.05)
            self._look()
            for process, (role, until) in list(self.running.items()):
                if time.monotonic() > until or not process.is_alive():
                    self._kill(process)
                    self._start(role, chance)
        for process in list(self.running):
            self._kill(process)
        self._alone(FINAL_READ)
        self._look()
        return self._judge()

    def _start(self, role: str, chance: random.Random) -> None:
        process = _fork.Process(target=_work, args=(self.setting, role))
        process.start()
        self.running[process] = (role, time.monotonic() + chance.uniform(0.2, LONGEST))

    def _kill(self, process: BaseProcess) -> None:
        """Kill a process, and delete the lock file that it leaves, as a person has to."""
        self.kills += process.is_alive()
        process.kill()
        process.join()
        del self.running[process]
        lock = Path(self.setting.uri) / LOCK_FILE
        with suppress(OSError, ValueError):
            if str(json.loads(lock.read_bytes())["owner"]).partition(":")[0] == str(process.pid):
                lock.unlink()

    def _look(self) -> None:
        """Note the completed files, before they are archived."""
        self.seen |= {name for name in self._timeline() if "_" in name}

    def _timeline(self) -> set[str]:
        """The names of the files in the timeline folder."""
        if self.setting.endpoint:
            return self.store.names(f"{self.setting.folder.name}/.hoodie/timeline/")
        with suppress(FileNotFoundError):
            return {path.name for path in (Path(self.setting.uri) / ".hoodie" / "timeline").iterdir()}
        return set()

    def _alone(self, task: str) -> None:
        process = _fork.Process(target=_once, args=(self.setting, task))
        process.start()
        process.join(FINAL)
        if process.exitcode != 0:
            process.kill()
            raise SystemExit(f"{self.setting}: {task} failed; seed {self.setting.seed}")

    def _judge(self) -> int:
        records = read_journals(self.setting.folder)
        counts = Counter(f"{r['kind']} {r.get('outcome', 'killed')}" for r in records)
        errors = Counter(f"({str(r['error'])[:160]})" for r in records if "error" in r)
        wrong = list(judge(records, self.seen))
        print(f"{self.setting}: {self.kills} kills; {_listed(counts)}; errors: {_listed(errors) or 'none'}; {len(wrong)} wrong")
        for line in wrong[:20]:
            print(f"  {line}")
        sys.stdout.flush()
        return len(wrong)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))


def _work(setting: Setting, role: str) -> None:
    end_with_parent()
    Worker(setting, role).work(role)


def _once(setting: Setting, task: str) -> None:
    end_with_parent()
    worker = Worker(setting, task)
    if task == "create":
        worker.create()
    else:
        worker.one("read")


if __name__ == "__main__":
    sys.exit(main())
