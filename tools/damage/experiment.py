"""One experiment: a table is damaged, asked again, and the answers are compared.

Each runs in a child process with limits of memory and time, because damage may end the process in a library.
"""

import multiprocessing
import resource
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from random import Random
from typing import Literal

from tools.damage.kinds import Damage, Objects, draw
from tools.damage.tables import Sample, ask, new_finding

from hudi_reference.errors import HudiError

#: "same": the rows of the undamaged table; "error": a typed error; "silent": other rows; "untyped": another exception;
#: "ended": the process ended, or took too much time or memory.
Outcome = Literal["same", "error", "silent", "untyped", "ended"]
#: Limits for one experiment.
SECONDS, MEMORY = 60, 4 << 30


@dataclass(frozen=True)
class Result:
    """What happened to one damaged table; `says` is the first line of the error, or which rows differ.

    `finding` is what `validate` reports of a silent damage, "" if it reports nothing.
    """

    seed: str
    table: str
    damage: Damage
    question: str
    outcome: Outcome
    says: str = ""
    finding: str = ""

    def __str__(self) -> str:
        found = f"; validate: {self.finding}" if self.finding else ""
        return f"{self.seed} {self.outcome}: {self.table}: {self.damage}; {self.question}: {self.says}{found}"


def run_one(seed: str, tables: Sequence[Sample]) -> Result:
    """The experiment of a seed; of the answers to two questions, the worst."""
    random = Random(seed)
    sample = random.choice(tables)
    damage, objects = draw(sample.objects, random)
    known = list(sample.answers)
    asked = list(dict.fromkeys(("snapshot", random.choice(known))))
    results = [Result(seed, sample.name, damage, question, *_judge(sample, objects, question)) for question in asked]
    worst = max(results, key=lambda result: _WORSE.index(result.outcome))
    return replace(worst, finding=new_finding(sample.objects, objects)) if worst.outcome == "silent" else worst


def damaged(seed: str, tables: Sequence[Sample]) -> Objects:
    """The objects of the damaged table of a seed."""
    random = Random(seed)
    return draw(random.choice(tables).objects, random)[1]


_WORSE: Sequence[Outcome] = ("same", "error", "silent", "untyped", "ended")


def _judge(sample: Sample, objects: dict[str, bytes], question: str) -> tuple[Outcome, str]:
    before = sample.answers[question]
    try:
        after = ask(objects, question, sample.latest)
    except HudiError as error:
        return "error", str(error).splitlines()[0]
    except Exception as error:
        return "untyped", f"{type(error).__name__}: {error}"[:300]
    lost, new = (before - after).total(), (after - before).total()
    return ("silent", f"{lost} of {before.total()} rows lost, {new} other rows") if lost or new else ("same", "")


def run_all(seeds: Sequence[str], tables: Sequence[Sample]) -> Iterator[Result]:
    """The results of all seeds, in order. After one that ends its process, the next one begins in a new process."""
    rest = list(seeds)
    while rest:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.get_context("fork").Process(target=_work, args=(theirs, rest, tables), daemon=True)
        child.start()
        theirs.close()
        try:
            while rest:
                result = ours.recv()
                rest.pop(0)
                yield result
        except EOFError:
            seed = rest.pop(0)
            random = Random(seed)
            sample = random.choice(tables)
            yield Result(seed, sample.name, draw(sample.objects, random)[0], "?", "ended", "the process ended")
        finally:
            ours.close()
            child.join(1)
            child.kill()


def _work(out: Connection, seeds: Sequence[str], tables: Sequence[Sample]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for seed in seeds:
        signal.alarm(SECONDS)
        out.send(run_one(seed, tables))
    signal.alarm(0)
