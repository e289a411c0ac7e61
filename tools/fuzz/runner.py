"""One target in one process: `python -m tools.fuzz.runner TARGET FOLDER --seconds N --seed N`.

If atheris is installed (Linux, extra `fuzz`), coverage guides the inputs; otherwise they are random. The first input that
breaks a property in each place is written to FOLDER/findings, and the run continues. An input that ends the process (a
crash, a hang) is stored there too.
"""

import contextlib
import hashlib
import sys
import time
import traceback
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Annotated

import typer

#: Wall seconds for one input before the process is ended; long, since the machine may be busy.
HANG = 60
MEMORY_MB = 3000


def main(
    target: str, folder: Path, seconds: Annotated[int, typer.Option()] = 60, seed: Annotated[int, typer.Option()] = 1
) -> None:
    """Fuzz the target."""
    guided = find_spec("atheris") is not None
    if guided:
        import atheris

        with atheris.instrument_imports(include=["hudi_reference"]):
            import_everything()
    from tools.fuzz.targets.catalogue import all_targets

    chosen = all_targets()[target]
    findings = Findings(chosen.check, folder / "findings")
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for data in chosen.inputs():
        with contextlib.suppress(Exception):  # libraries are loaded and fill their pools before memory is measured
            chosen.decode(data)
        (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    if guided:
        _guided(chosen, findings, folder, seconds, seed)
    else:
        _unguided(chosen, findings, folder, seconds, seed)


def import_everything() -> None:
    """Import every module of the reference, so that all modules are instrumented."""
    import importlib
    import pkgutil

    import hudi_reference

    for module in pkgutil.walk_packages(hudi_reference.__path__, "hudi_reference."):
        importlib.import_module(module.name)


class Findings:
    """Runs inputs, and stores the first input of each failure."""

    def __init__(self, check: object, folder: Path) -> None:
        self.check, self.folder, self.seen = check, folder, set[str]()
        folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, data: bytes) -> None:
        """Check an input; store it if a property fails in a new place."""
        try:
            self.check(data)  # type: ignore[operator]
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            self._keep(data, error)

    def _keep(self, data: bytes, error: BaseException) -> None:
        place = failure_signature(error)
        if place in self.seen:
            return
        self.seen.add(place)
        name = hashlib.sha256(place.encode()).hexdigest()[:12]
        path = self.folder / name
        if path.exists() and path.stat().st_size <= len(data):
            return
        path.write_bytes(data)
        path.with_suffix(".txt").write_text(f"{place}\n\n{''.join(traceback.format_exception(error))}", errors="replace")


def failure_signature(error: BaseException) -> str:
    """The kind of the failure and the place where it was raised; failures with the same signature are one finding."""
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if "hudi_reference" in f.filename or "tools/fuzz" in f.filename
    ]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].name}:{frames[-1].lineno}" if frames else "?"
    text = "".join(c for c in str(error)[:40] if not c.isdigit()) if type(error).__name__ == "Broken" else ""
    return f"{type(error).__name__} at {where} {text}"


def _guided(target: object, findings: Findings, folder: Path, seconds: int, seed: int) -> None:
    import atheris
    from tools.fuzz.edits import mutate
    from tools.fuzz.targets.target import Target

    assert isinstance(target, Target)
    explode, longest = target.explode, target.longest

    def mutator(data: bytes, max_size: int, chance: int) -> bytes:
        def change(leaf: bytes) -> bytes:
            return bytes(atheris.Mutate(leaf, max(len(leaf) + 64, 1)))

        return mutate(bytes(data), explode, Random(chance), change)[:max_size]

    argv = [
        "fuzz", str(folder / "corpus"), f"-max_total_time={seconds}", f"-timeout={HANG}", f"-rss_limit_mb={MEMORY_MB}",
        f"-max_len={longest}", f"-artifact_prefix={folder}/findings/", f"-seed={seed}", "-print_final_stats=1",
        "-len_control=0", "-verbosity=1", "-reload=0",
    ]  # fmt: skip
    atheris.Setup(argv, findings, custom_mutator=mutator)
    atheris.Fuzz()


def _unguided(target: object, findings: Findings, folder: Path, seconds: int, seed: int) -> None:
    """Run random mutations of the seeds; print the same figures as libFuzzer."""
    from tools.fuzz.edits import mutate
    from tools.fuzz.targets.target import Target

    assert isinstance(target, Target)
    random, count, started = Random(seed), 0, time.monotonic()
    inputs = [path.read_bytes() for path in sorted((folder / "corpus").iterdir())]
    while time.monotonic() - started < seconds:
        data = random.choice(inputs)
        data = data if count < len(inputs) else mutate(data, target.explode, random)[: target.longest]
        (folder / "findings" / "current").write_bytes(data)
        findings(data)
        count += 1
    with contextlib.suppress(BrokenPipeError):
        print(f"stat::number_of_executed_units: {count}", file=sys.stderr)


if __name__ == "__main__":
    typer.run(main)
