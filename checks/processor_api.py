"""``python -m checks.processor_api``: write what the editor of processors offers, as JSON.

Names, arguments and texts are those of the runtime, so that the page lists nothing by hand.
"""

from __future__ import annotations

import inspect
import json
from typing import Any

from millrace_runtime.processor import Processor, ProcessorContext, Record
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
    "init": "def init(self, context):\n    self.context = context",
    "process": "def process(self, record):\n    self.context.forward(record)",
}


def api() -> dict[str, list[dict[str, str]]]:
    """Members by class, in alphabetical order: name, call, help and example."""
    classes = [Processor, ProcessorContext, Record, *KINDS.values(), *READ_ONLY.values()]
    return {each.__name__: _members(each) for each in classes}


def _members(owner: type[Any]) -> list[dict[str, str]]:
    found = []
    for name, member in inspect.getmembers(owner):
        known = inspect.isfunction(member) or isinstance(member, property)
        if name.startswith("_") or not known:
            continue
        help_ = " ".join((inspect.getdoc(member) or "").split("\n\n")[0].split())
        example = _EXAMPLES.get(name, "")
        found.append({"name": name, "call": _call(name, member), "help": help_, "example": example})
    if owner is Record:
        found += [
            {"name": name, "call": name, "help": text, "example": ""}
            for name, text in (
                ("key", "The key."),
                ("value", 'The value; fields of a struct are value.name or value["name"].'),
                ("timestamp", "The timestamp in ms."),
                ("headers", "The headers, a list of (name, bytes)."),
            )
        ]  # fmt: skip
    return found


def _call(name: str, member: Any) -> str:
    """The member as it is written: `put(key, value)`, or `topic` for a property."""
    if isinstance(member, property):
        return name
    parameters = list(inspect.signature(member).parameters.values())[1:]
    words = [
        each.name if each.default is each.empty else f"{each.name}={each.default!r}"
        for each in parameters
        if each.kind is not each.VAR_KEYWORD
    ]
    return f"{name}({', '.join(words)})"


def text() -> str:
    """The contents of the file."""
    return json.dumps(api(), indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
