"""The table from Kafka Streams to Millrace: `docs/kafka_streams.toml`, and its names looked up."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from millrace_compiler.catalog.catalog import catalog
from millrace_runtime import keywords
from millrace_runtime.driver import main as job

from launcher import places
from launcher.commands import COMMANDS

FILE = places.REPOSITORY / "docs" / "kafka_streams.toml"
_MODULES = ("millrace_runtime", "millrace_runtime.testing", "millrace_runtime.processor")


@dataclass(frozen=True)
class Row:
    """What Millrace has in place of a method or key; `names` is empty if there is nothing."""

    group: str
    of: str
    member: str
    names: tuple[str, ...]
    note: str

    @property
    def same(self) -> bool:
        """Whether it has the same name, in Python's spelling."""
        snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.member).lower()
        return len(self.names) == 1 and self.names[0].rpartition(".")[2] == snake


def rows(file: Path = FILE) -> list[Row]:
    """Return the rows in the order of the file."""
    found = []
    for group, classes in tomllib.loads(file.read_text(encoding="utf-8")).items():
        for of, entries in classes.items():
            for members, entry in entries.items():
                names, note = (entry, "") if isinstance(entry, str) else entry
                listed = tuple(names.split(", ")) if names else ()
                found += [Row(group, of, each, listed, note) for each in members.split(" ")]
    return found


def table() -> str:
    """Return the rows as Markdown, a heading for each group and class."""
    return "\n".join(_lines(rows()))


def _lines(listed: list[Row]) -> Iterator[str]:
    group = of = ""
    for row in listed:
        if row.group != group:
            group = row.group
            yield f"\n## {group}"
        if row.of != of:
            of = row.of
            yield f"\n### {of.replace('$', '.')}\n\n| Kafka Streams | Millrace | |\n|---|---|---|"
        names = ", ".join(map(_shown, row.names))
        here = f"same: {names}" if row.same else names or "not there"
        note = row.note if row.names else f"because {row.note}"
        yield f"| `{row.member}` | {here} | {note} |"


def _shown(name: str) -> str:
    kind, _, rest = name.partition(" ")
    if kind == "page":
        return f"[{rest.removesuffix('.md')}]({rest})"
    if kind == "command":
        return f"`./millrace {rest}`"
    if kind in ("setting", "option"):
        return f"{kind} `{rest}`"
    return f"`{name}`"


def exists(name: str) -> bool:
    """Whether a name of the table is there: a page, command, option, setting, or Python name."""
    kind, _, rest = name.partition(" ")
    if kind == "page":
        return (places.REPOSITORY / "docs" / rest).is_file()
    if kind == "command":
        return rest in COMMANDS
    if kind == "option":
        return rest in job.parser("job")._option_string_actions
    if kind == "setting":
        settings = cast("list[dict[str, Any]]", catalog()["settings"])
        return rest in {each["name"] for each in settings}
    found = re.fullmatch(r"(\w+)(?:\.(\w+))?(?:\((\w+)\))?", name)
    return found is not None and _in_python(*found.groups())


def _in_python(first: str, member: str | None, parameter: str | None) -> bool:
    owners = [getattr(importlib.import_module(each), first, None) for each in _MODULES]
    owner = next((each for each in owners if each is not None), None)
    if owner is None:
        return False
    if member is None:
        return parameter is None or parameter in _parameters(owner)
    described = any(member in vars(each).get("__annotations__", {}) for each in owner.__mro__)
    found = getattr(owner, member, None)
    if parameter is None:
        return found is not None or described
    return found is not None and parameter in _parameters(found)


def _parameters(function: Any) -> tuple[str, ...]:
    return keywords._known(inspect.unwrap(function)) or ()
