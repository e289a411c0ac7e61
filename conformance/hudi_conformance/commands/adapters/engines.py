"""`hudi-conformance engines`: list the engines that the suite knows."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.table import Column, Table

from hudi_conformance.commands.adapters.doctor import diagnose
from hudi_conformance.console import SafeConsole
from hudi_conformance.contract import FEATURES, ContractError, Hello
from hudi_conformance.contract.client import Client
from hudi_conformance.engines import registry
from hudi_conformance.engines.support.info import EngineInfo


def engines(
    ask: Annotated[
        bool, typer.Option(help="Start each engine that can run here, and show its own version and features.")
    ] = True,
    features: Annotated[bool, typer.Option("--features", help="Show for each feature which engines offer it.")] = False,
) -> None:
    """List the known engines: version, language, features, and how they are started."""
    console = SafeConsole(highlight=False)
    known = registry.shipped()
    answers: dict[str, Hello | str] = {}
    for info in known:
        with console.status(f"asking {info.name}"):
            answers[info.name] = ask_hello(info) if ask else "not asked"
    console.print(_overview(known, answers))
    for info in known:
        console.print(f"{info.name}: {_start(info)}", soft_wrap=True, markup=False)
    for name, reason in registry.without_adapter().items():
        console.print(f"{name}: no adapter; {reason}", soft_wrap=True, markup=False)
    told = {name: answer for name, answer in answers.items() if isinstance(answer, Hello)}
    if features and told:
        console.print(_matrix(told))


def ask_hello(info: EngineInfo) -> Hello | str:
    """The answer of the engine to `hello`, or the reason why there is none."""
    diagnosis = diagnose(info)
    if not diagnosis.ready:
        return f"not installed: {diagnosis.remedy}"
    start = info.starter(lambda _: None)
    try:
        with Client(info.name, start, start_timeout=info.start_timeout, message_timeout=info.message_timeout) as client:
            return client.hello
    except ContractError as e:
        return f"does not start: {str(e).splitlines()[0]}"


def _overview(known: Sequence[EngineInfo], answers: Mapping[str, Hello | str]) -> Table:
    first = (Column("engine", no_wrap=True), Column("what it is", overflow="fold"))
    table = Table(*first, "version", "language", "features", title="engines")
    for info in known:
        answer = answers[info.name]
        if isinstance(answer, Hello):
            said = (answer.version, answer.language, f"{len(answer.features)} of {len(FEATURES)}")
        else:
            said = ("", "", answer.partition(":")[0])
        table.add_row(info.name, info.summary, *said)
    return table


def _start(info: EngineInfo) -> str:
    """How the engine is started, or installed."""
    if info.factory is not None:
        return "in this process"
    if (remedy := diagnose(info).remedy) is not None:
        return f"not installed; {remedy}"
    if info.package is not None:
        return f"the program of the Cargo package {info.package}"
    command = " ".join(("python", *info.argv)) if info.extra else " ".join(info.argv)
    return f"{command} (environment {info.extra})" if info.extra else command


def _matrix(told: Mapping[str, Hello]) -> Table:
    """Features by engines."""
    table = Table("feature", *told, title="features")
    for feature, meaning in FEATURES.items():
        marks = ("[green]✓[/green]" if feature in hello.features else "[dim]·[/dim]" for hello in told.values())
        table.add_row(f"{feature}  [dim]{meaning}[/dim]", *marks)
    return table
