"""Engines that violate the protocol: each is the reference in a process of its own, with one fault in its dialogue.

Run one with `python -m hudi_conformance.engines.faulty.protocol_faults NAME`.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable

from hudi_conformance.contract.serve import Answer, Streams, dispatch, parse_message, take_streams
from hudi_conformance.engines.faulty.data_faults import FaultyEngine

#: Seconds that a late engine waits before it answers.
LATE = 4.0

#: Sends an answer, or does something wrong instead. Arguments: the operation of the message, its correct answer, the streams.
ProtocolFault = Callable[[str, Answer, Streams], None]


def _hang(op: str, answer: Answer, streams: Streams) -> None:
    if op != "hello":
        time.sleep(24 * 3600)
    streams.write_answer(answer)


def _crash(op: str, answer: Answer, streams: Streams) -> None:
    if op != "hello":
        print("faulty engine: out of memory, simulated", file=sys.stderr, flush=True)
        os._exit(3)
    streams.write_answer(answer)


def _answer_late(op: str, answer: Answer, streams: Streams) -> None:
    if op != "hello":
        time.sleep(LATE)
    streams.write_answer(answer)


def _start_late(op: str, answer: Answer, streams: Streams) -> None:
    if op == "hello":
        time.sleep(LATE)
    streams.write_answer(answer)


def _print_junk(op: str, answer: Answer, streams: Streams) -> None:
    if op != "hello":
        streams.answers.write("Reading the table, please wait ...\n")
    streams.write_answer(answer)


def _answer_with_a_wrong_id(op: str, answer: Answer, streams: Streams) -> None:
    streams.write_answer(answer if op == "hello" else {**answer, "id": answer["id"] + 1})


def _break_the_schema(op: str, answer: Answer, streams: Streams) -> None:
    streams.write_answer(
        answer if op == "hello" else {"id": answer["id"], "result": {k: answer[k] for k in answer if k != "id"}}
    )


#: The faults by the names of their engines.
PROTOCOL_FAULTS: dict[str, ProtocolFault] = {
    "hangs": _hang,
    "crashes": _crash,
    "answers-late": _answer_late,
    "starts-late": _start_late,
    "prints-junk": _print_junk,
    "wrong-id": _answer_with_a_wrong_id,
    "breaks-the-schema": _break_the_schema,
}


def main() -> None:
    """Run the engine whose name is the only argument."""
    parser = argparse.ArgumentParser(prog="python -m hudi_conformance.engines.faulty.protocol_faults")
    parser.add_argument("fault", choices=sorted(PROTOCOL_FAULTS))
    name = parser.parse_args().fault
    streams, engine = take_streams(), FaultyEngine(name)
    for line in streams.messages:
        message = parse_message(line)
        if message["op"] == "bye":
            break
        PROTOCOL_FAULTS[name](message["op"], dispatch(engine, message), streams)


if __name__ == "__main__":
    main()
