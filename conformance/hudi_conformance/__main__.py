"""The program `hudi-conformance`, also as `python -m hudi_conformance`."""

import signal


def main() -> None:
    """Run the command in the arguments of the process.

    While Python imports the commands, Ctrl-C ends the process at once: a handler would print a traceback of the imports.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from hudi_conformance.cli import app

    signal.signal(signal.SIGINT, handler)
    app()


if __name__ == "__main__":
    main()
