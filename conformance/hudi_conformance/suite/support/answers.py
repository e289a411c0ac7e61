"""Counted answers: a test that accepts errors in place of answers must have had at least one answer to check.

Many properties hold for every answer, while an engine may answer with an error. Without a count such a test would pass on an
engine that answers nothing.
"""

from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError, Refused


@dataclass
class Answers:
    """The answers of an engine to the queries of one test, and the errors that it gave instead."""

    engine: Client
    given: int = 0
    errors: list[ContractError] = field(default_factory=list)

    def ask(self, uri: str, query: Query) -> pa.Table | None:
        """Return the answer to a query; None for an error."""
        return self.count_answer(read_answer(self.engine, uri, query))

    def count_answer(self, answer: pa.Table | ContractError) -> pa.Table | None:
        """Count an answer, and return its rows; None for an error."""
        if isinstance(answer, ContractError):
            self.errors.append(answer)
            return None
        self.given += 1
        return answer

    def expect_some(self, what: str) -> None:
        """Check that at least one query was answered.

        Args:
            what: the queries, in the plural, for the message.

        Raises:
            Refused: the engine refused them all.
            AssertionError: it answered none, and gave other errors.
            pytest.skip.Exception: there was no query to ask.
        """
        if self.given:
            return
        if not self.errors:
            pytest.skip(f"there are no {what} for this engine")
        if all(isinstance(error, Refused) for error in self.errors):
            raise self.errors[0]
        other = next(error for error in self.errors if not isinstance(error, Refused))
        raise AssertionError(f"none of {len(self.errors)} {what} was answered; the first error: {other}")


def read_answer(engine: Client, uri: str, query: Query) -> pa.Table | ContractError:
    """Return the rows, or the error of the engine."""
    try:
        return engine.read(uri, query)
    except ContractError as error:
        return error
