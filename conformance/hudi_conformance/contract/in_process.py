"""An engine as an object in this process, with the same messages and the same dispatch."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from hudi_conformance.contract.engine import Engine
from hudi_conformance.contract.errors import EngineCrash
from hudi_conformance.contract.serve import dispatch


class InProcessTransport:
    """An engine in this process. Every message and answer is encoded as JSON and decoded, as between processes.

    Time limits are not enforced, because the engine cannot be killed without the suite.
    """

    def __init__(self, make: Callable[[], Engine]) -> None:
        try:
            self._engine = make()
        except Exception as e:
            raise EngineCrash(f"the engine could not be created: {type(e).__name__}: {e}") from e

    def ask(self, message: Mapping[str, Any], timeout: float) -> Any:
        """The JSON value that answers `message`."""
        del timeout
        return json.loads(json.dumps(dispatch(self._engine, json.loads(json.dumps(message, allow_nan=False)))))

    def close(self, grace: float = 0) -> bool:
        """Close the engine."""
        del grace
        self._engine.close()
        return True
