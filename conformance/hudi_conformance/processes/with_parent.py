"""Lets the process that imports it end with its parent. The fork server of a command imports it first.

A fork server cannot be given a function to call at its start, only modules to import. Without this it does not end while one
of its workers runs.
"""

from hudi_conformance.processes.session import end_with_parent

end_with_parent()
