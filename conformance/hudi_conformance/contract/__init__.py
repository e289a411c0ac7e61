"""The contract between the suite and an engine.

An engine is a process that answers these messages as JSON lines, or a Python class derived from `Engine`. Rows are Arrow IPC
files whose paths are in the messages; tables are addressed by URI.

`messages`, `features`, `engine` and `schemas` define the contract; `client`, `process` and `in_process` are the side of the
suite, `serve` is the side of the engine. Members may be added to messages and answers, and both sides ignore unknown members.
The package imports nothing of the suite, and of the reference only `limits`, so that adapters can use it in their own
environments. What may be changed here: members may be added to messages; the meaning of the existing ones stays.
"""

from hudi_conformance.contract.engine import Engine
from hudi_conformance.contract.errors import (
    Conflict,
    ContractError,
    EngineCrash,
    EngineError,
    EngineTimeout,
    ProtocolFault,
    Refused,
)
from hudi_conformance.contract.features import FEATURES, FUNCTIONS
from hudi_conformance.contract.messages import PROTOCOL, Call, Hello, Query, TableSpec, Write

__all__ = [
    "FEATURES",
    "FUNCTIONS",
    "PROTOCOL",
    "Call",
    "Conflict",
    "ContractError",
    "Engine",
    "EngineCrash",
    "EngineError",
    "EngineTimeout",
    "Hello",
    "ProtocolFault",
    "Query",
    "Refused",
    "TableSpec",
    "Write",
]
