"""``python -m checks.processor_api``: write what the editor of processors offers, as JSON.

Names, arguments and texts are those of the runtime, so that the page lists nothing by hand.
"""

from __future__ import annotations

import inspect
from typing import Any

from millrace_compiler.documents.json_text import text_of
from millrace_runtime.processor import Processor, ProcessorContext, Record
from millrace_runtime.processor.handling import FailedRecord, RecordError, Response
from millrace_runtime.processor.stores import KINDS, READ_ONLY

from launcher import places

FILE = places.REPOSITORY / "frontend" / "src" / "inspector" / "editor" / "processorApi.json"
_EXAMPLES = {
    "store": 'self.counts = context.store("counts", KeyValueStore[str, int])',
    "schedule": 'context.schedule("1 minute", STREAM_TIME, self.report)',
    "forward": "self.context.forward(record.replace(value=record.value * 2))",
    "replace": 'record.replace(key=record.value["user"], timestamp=0)',
    "get": "count = self.counts.get(record.key) or 0",
    "get_with_timestamp": "found = self.users.get_with_timestamp(record.key)",
    "put": "self.counts.put(record.key, count + 1)",
    "put_if_absent": "first = self.seen.put_if_absent(record.key, record.timestamp)",
    "delete": "old = self.counts.delete(record.key)",
    "range": 'for key, value in self.counts.range("a", "m"):',
    "all": "for key, value in list(self.counts.all()):",
    "prefix_scan": 'for key, value in self.counts.prefix_scan("user-"):',
    "fetch": "for start, value in self.windows.fetch(record.key, 0, record.timestamp):",
    "fetch_with_timestamp": "found = self.windows.fetch_with_timestamp(record.key, start)",
    "fetch_all": "for key, value in self.windows.fetch_all(start, start + 60_000):",
    "find_sessions": "for key, value in self.visits.find_sessions(record.key, start, end):",
    "dead_letter": "return Response.resume(record.dead_letter(error))",
    "resume": "return Response.resume()",
    "fail": "return Response.fail(DeadLetter(record.key, error.message))",
    "init": "def init(self, context):\n    self.context = context",
    "process": "def process(self, record):\n    self.context.forward(record)",
}


_HEADERS = "The headers, a list of (name, bytes)."
ATTRIBUTES: dict[type[Any], dict[str, str]] = {
    Record: {
        "key": "The key.",
        "value": 'The value; fields of a struct are value.name or value["name"].',
        "timestamp": "The timestamp in ms.",
        "headers": _HEADERS,
    },
    FailedRecord: {
        "key": "The bytes of the key, or None.",
        "value": "The bytes of the value, or None.",
        "timestamp": "The timestamp in ms.",
        "headers": _HEADERS,
        "topic": "The topic of the source record; None in a punctuation.",
        "partition": "Its partition.",
        "offset": "Its offset.",
    },
    RecordError: {
        "kind": "deserialization, processing or production.",
        "node": "The node where it happened.",
        "parameter": "The parameter of the node, or None.",
        "exception": "The name of the exception's class.",
        "message": "The message.",
        "stacktrace": "The stack trace.",
        "task_id": 'Of the task, such as "0_1"; None for a result that the producer refuses.',
    },
}


def api() -> dict[str, list[dict[str, str]]]:
    """Members by class, in alphabetical order: name, call, help and example."""
    classes = [Processor, ProcessorContext, Record, *KINDS.values(), *READ_ONLY.values()]
    classes += [FailedRecord, RecordError, Response]
    return {each.__name__: _members(each) for each in classes}


def _members(owner: type[Any]) -> list[dict[str, str]]:
    found = []
    for name, member in inspect.getmembers(owner):
        known = inspect.isroutine(member) or isinstance(member, property)
        if name.startswith("_") or not known:
            continue
        help_ = " ".join((inspect.getdoc(member) or "").split("\n\n")[0].split())
        example = _EXAMPLES.get(name, "")
        found.append({"name": name, "call": _call(name, member), "help": help_, "example": example})
    for name, help_ in ATTRIBUTES.get(owner, {}).items():
        found.append({"name": name, "call": name, "help": help_, "example": ""})
    return found


def _call(name: str, member: Any) -> str:
    """The member as it is written: `put(key, value)`, or `topic` for a property."""
    if isinstance(member, property):
        return name
    bound = inspect.ismethod(member)  # a class method has no `self`
    parameters = list(inspect.signature(member).parameters.values())[0 if bound else 1 :]
    words = [
        str(each).partition(":")[0]
        if each.default is each.empty
        else f"{each.name}={each.default!r}"
        for each in parameters
        if each.kind is not each.VAR_KEYWORD
    ]
    return f"{name}({', '.join(words)})"


def text() -> str:
    """The contents of the file."""
    return text_of(api())


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
