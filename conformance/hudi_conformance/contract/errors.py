"""The ways in which asking an engine can end without rows, told apart by whose doing it is."""


class ContractError(Exception):
    """Any end of a request other than its answer."""


class Refused(ContractError):
    """The engine says that it does not offer `feature`. A refusal is right where the engine cannot do the work."""

    def __init__(self, feature: str, message: str) -> None:
        super().__init__(f"refused {feature}: {message}")
        self.feature = feature
        self.message = message


class Conflict(ContractError):
    """The engine gave up a write because another writer got there first."""


class EngineError(ContractError):
    """The engine answered with an error: it tried and failed, and said so."""


class ProtocolFault(ContractError):
    """What came back is not the protocol: junk on standard output, a wrong id, an answer that its schema rejects.

    The adapter is at fault, not the engine behind it.
    """


class EngineCrash(ContractError):
    """The engine's process ended before it answered; carries its exit status and the end of its standard error."""


class EngineTimeout(ContractError):
    """No answer within the time limit of the message; the process has been killed."""
