"""The session of the suite in this process of pytest."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hudi_conformance.runner.session import Session

SESSION: pytest.StashKey["Session"] = pytest.StashKey()


def get_session(config: pytest.Config) -> "Session":
    """The engines and lists of this process, made on first use."""
    found = config.stash.get(SESSION, None)
    if found is None:
        from hudi_conformance.runner.exchange_log import ExchangeLog
        from hudi_conformance.runner.patterns import read_flaky
        from hudi_conformance.runner.session import SEED, Session
        from hudi_reference.storage import SYNC_VARIABLE

        os.environ.setdefault(SYNC_VARIABLE, "0")  # tables of the suite are temporary; engines that are started inherit it
        flaky, trace = config.getoption("known_flaky"), config.getoption("trace_messages")
        found = config.stash[SESSION] = Session(
            engines=tuple(dict.fromkeys(config.getoption("engine") or ("reference",))),
            list_path=config.getoption("expected_failures"),
            update=config.getoption("update_expected_failures"),
            mutant=config.getoption("mutant"),
            programs=config.getoption("programs"),
            table_version=config.getoption("table_version"),
            seed=SEED if (seed := config.getoption("seed")) is None else seed,
            message_timeout=config.getoption("message_timeout"),
            max_timeouts=config.getoption("max_timeouts") or None,
            flaky=() if flaky is None else read_flaky(flaky),
            log=None if trace is None else ExchangeLog(None if trace == "-" else Path(trace)),
        )
    return found
