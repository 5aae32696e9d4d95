"""Requests to simulators, as the page makes them, and a document with a processor."""

from __future__ import annotations

import threading
import time
from typing import Any, cast

LINE = {"topic": "in", "key": "k", "value": "v", "timestamp": 1}
CURIOUS = """
import os

class Curious(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record.replace(value=",".join(sorted(os.environ))))
"""


def processing(code: str, class_name: str) -> Any:
    """Return a document with a processor of this class."""
    text = {"format": "string"}
    return {
        "format": "millrace.topology/1",
        "name": "processing",
        "nodes": [
            {
                "id": "in",
                "kind": "source.stream",
                "params": {"topics": ["in"], "key": text, "value": text},
            },
            {
                "id": "step",
                "kind": "process",
                "params": {
                    "code": code,
                    "class_name": class_name,
                    "output": {"key": "STRING", "value": "STRING"},
                },
            },
            {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
        ],
        "edges": [{"source": "in", "target": "step"}, {"source": "step", "target": "out"}],
    }


def ask(simulators: Any, document: Any, inputs: list[Any], owner: str = "me", **more: Any) -> Any:
    """Return the answer as the page gets it, retrying while the simulator is starting."""
    from millrace_runtime.simulator.simulator import respond

    request = {"do": "simulate", "owner": owner, "document": document, "inputs": inputs}
    until = time.monotonic() + 180
    while time.monotonic() < until:
        answer = respond(simulators, cast(Any, {**request, "trace": 2000, **more}))
        if answer.get("state") != "starting":
            return answer
        time.sleep(0.5)
    raise AssertionError("the simulator did not start")


class Asked:
    """A request that runs in a thread."""

    def __init__(self, *given: Any, **more: Any) -> None:
        self._answers: list[Any] = []
        self._thread = threading.Thread(
            target=lambda: self._answers.append(ask(*given, **more)), daemon=True
        )
        self._thread.start()

    @property
    def runs(self) -> bool:
        """Whether the request is still unanswered."""
        return self._thread.is_alive()

    def answer(self) -> Any:
        """Wait for the answer and return it."""
        self._thread.join(60)
        return self._answers[0]
