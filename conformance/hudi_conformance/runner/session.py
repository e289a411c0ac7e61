"""The state of one pytest process: started engines, lists of expected failures, the mutant."""

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from hudi_conformance.cases.verdict import Outcome, Result
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.contract.messages import Hello
from hudi_conformance.engines.registry import connect
from hudi_conformance.runner import expected_failures
from hudi_conformance.runner.exchange_log import ExchangeLog
from hudi_conformance.runner.expected_failures import ExpectedFailures, FlakyPattern
from hudi_conformance.runner.table_copies import TableCopies
from hudi_conformance.validator.written_tables import WrittenTables

#: Seed of drawn data unless `--seed` names another one. It is fixed: a pinned release gives the same results every day.
SEED = 20261126


class EngineDidNotStart(ContractError):
    """An engine that did not start: no such name, no environment, or a factory that fails."""


@dataclass
class Session:
    """Engines by the name under which they were requested. Each starts when the first case needs it, once per process."""

    engines: tuple[str, ...]
    list_path: Path | None = None
    update: bool = False
    mutant: str | None = None
    #: Random programs of each model-based test; None: as many as the engine can run in a short time.
    programs: int | None = None
    #: The table version of cases that hold for each version; None: it is drawn by the id of the case.
    table_version: int | None = None
    #: The seed of drawn data.
    seed: int = SEED
    #: Time limit of messages in seconds; None: that of each engine.
    message_timeout: float | None = None
    #: Unexpected time-outs of one engine after which it is not asked any more; None: no limit.
    max_timeouts: int | None = None
    #: Cases that may pass or fail, in addition to those of the lists.
    flaky: tuple[FlakyPattern, ...] = ()
    log: ExchangeLog | None = None
    validated: WrittenTables = field(default_factory=WrittenTables)
    copies: TableCopies = field(default_factory=TableCopies)
    _timeouts: Counter[str] = field(default_factory=Counter)
    _clients: dict[str, Client | ContractError] = field(default_factory=dict)
    _lists: dict[str, ExpectedFailures] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

    def apply_mutant(self) -> None:
        """Apply the mutant, if one was requested, to the reference of this process.

        Failing programs are not shrunk then, because only the outcome of the case matters.
        """
        if self.mutant is not None:
            from hypothesis import Phase, settings

            from hudi_conformance.mutants import apply_mutant
            from hudi_conformance.mutants.drawn.draw import PREFIX

            settings.register_profile("mutant", phases=(Phase.explicit, Phase.generate))
            settings.load_profile("mutant")
            if self.mutant.startswith(PREFIX):
                return  # applied when its module was imported
            self._stack.enter_context(apply_mutant(self.mutant))

    def client(self, engine: str) -> Client:
        """The started engine; if it does not start, the same `ContractError` every time."""
        if engine not in self._clients:
            self._clients[engine] = self._start(engine)
        found = self._clients[engine]
        if isinstance(found, ContractError):
            raise found
        return found

    def _start(self, engine: str) -> Client | ContractError:
        try:
            trace = None if self.log is None else partial(self.log.add_message, engine)
            client = connect(engine, message_timeout=self.message_timeout, trace=trace)
        except ContractError as error:
            return error
        except Exception as error:
            return EngineDidNotStart(f"the engine could not be started: {error}")
        self._stack.callback(client.close)
        return client

    def forget_used_tables(self) -> None:
        """Before a case: the tables of earlier cases do not belong to it, for example of one that failed."""
        for client in self._clients.values():
            if isinstance(client, Client):
                client.used = set()

    def hello(self, engine: str) -> Hello | None:
        """The introduction of the engine; None if there is none yet."""
        client = self._clients.get(engine)
        return client.hello if isinstance(client, Client) else None

    def start_failure(self, engine: str) -> str | None:
        """Why the engine did not start; None if it did, or was not needed."""
        client = self._clients.get(engine)
        return str(client) if isinstance(client, ContractError) else None

    def expected_failures(self, engine: str) -> ExpectedFailures:
        """The engine's list of expected failures."""
        if engine not in self._lists:
            found = expected_failures.load_list(engine, self.list_path)
            self._lists[engine] = replace(found, known_flaky=self.flaky)
        return self._lists[engine]

    def compare(self, result: Result) -> Result:
        """The result compared with the engine's list; when the list is rewritten, every result is as expected."""
        settled = self.expected_failures(result.engine).compare(replace(result, options=self._options))
        if result.outcome is Outcome.TIMEOUT and settled.listed is None:
            self._timeouts[result.engine] += 1
        if self.update and settled.surprise is not None:
            return replace(settled, surprise=None, listed="recorded" if result.outcome.is_failure else None)
        return settled

    @property
    def _options(self) -> tuple[str, ...]:
        """The options of this run on which answers depend, as far as they are not the default."""
        version = () if self.table_version is None else ("--table-version", str(self.table_version))
        return version if self.seed == SEED else (*version, "--seed", str(self.seed))

    def stop_reason(self, engine: str) -> str | None:
        """Why the engine is not asked any more: it had too many time-outs; None if it is asked."""
        if self.max_timeouts is None or self._timeouts[engine] < self.max_timeouts:
            return None
        return f"not run: {self.max_timeouts} time-outs before (--max-timeouts {self.max_timeouts})"

    def describe_stale_entries(self, results: Iterable[Result], *, complete: bool) -> list[str]:
        """Messages about entries of lists that are out of date."""
        messages = []
        for engine in self.engines:
            mine = [r for r in results if r.engine == engine]
            found = self.expected_failures(engine)
            stale = found.describe_stale_entries(mine, complete=complete, engines=self.engines)
            messages += [f"{found.path}: {complaint}" for complaint in stale]
        return messages

    def rewrite_lists(self, results: Iterable[Result], *, complete: bool) -> list[Path]:
        """Rewrite the lists of the engines that ran; the files written. A list that was named and does not exist is written
        without entries too, because the next run names it.
        """
        written = []
        for engine in self.engines:
            mine = [r for r in results if r.engine == engine]
            updated = self.expected_failures(engine).with_results(mine, complete=complete)
            if not mine or updated.path is None:
                continue
            named = updated.path == self.list_path and not updated.path.exists()
            if named or updated.entries != self.expected_failures(engine).entries:
                updated.save()
                written.append(updated.path)
        return written

    def close(self) -> None:
        """Stop every engine, revert the mutant and delete copies of tables."""
        self._stack.close()
        self.copies.close()
