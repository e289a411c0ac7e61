"""Compiled modules for the processes that a run starts.

If PYTHONDONTWRITEBYTECODE is set, as in many container images, every process compiles every module that it imports, and pytest
rewrites the assertions of every test module in every process. That takes longer than most cases. Compiled modules are then
stored in the cache of the suite. No file is written beside the sources.
"""

import os
import sys

from hudi_conformance.processes.cache import cache_folder


def share_compiled_modules() -> None:
    """Store the compiled modules of this process, and of those that it starts, in the cache of the suite.

    Nothing changes if Python stores them beside the sources, or in a folder that the user has chosen.
    """
    if not sys.dont_write_bytecode or sys.pycache_prefix is not None:
        return
    folder = str(cache_folder() / "compiled")
    sys.dont_write_bytecode, sys.pycache_prefix = False, folder
    os.environ["PYTHONPYCACHEPREFIX"] = folder
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
