"""``python -m checks.program_api``: write the reference of programs, from docstrings."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any, Generic, Literal, get_args, get_origin

import millrace_runtime
from millrace_runtime import testing
from millrace_runtime.dsl.nodes import About
from millrace_runtime.dsl.stores import StoreOptions

from checks.processor_api import ATTRIBUTES
from launcher import places

FILE = places.REPOSITORY / "docs" / "reference.md"
#: the names of both modules, by section
SECTIONS = {
    "Topologies": "Topology Stream GroupedStream CogroupedStream Table GroupedTable GlobalTable",
    "Windows": "tumbling hopping sliding sessions unlimited custom_windows within "
    "until_window_closes until_time_limit Windowed Window",
    "Stores": "key_value_store window_store session_store versioned_store Store",
    "Formats": "string integer long float_ double boolean bytes_ json avro protobuf time_windowed "
    "session_windowed Format",
    "Sources that are not topics": "reader Reader",
    "Fragments": "fragment Fragment FragmentInput FragmentOutput parameter stream_input "
    "table_input global_table_input fragment_output",
    "Processors": "Processor ProcessorContext Record STREAM_TIME WALL_CLOCK_TIME KeyValueStore "
    "WindowStore SessionStore VersionedStore ReadOnlyKeyValueStore ReadOnlyWindowStore "
    "ReadOnlySessionStore ReadOnlyVersionedStore ValueAndTimestamp ValueTimestampHeaders "
    "AggregationWithHeaders Struct FrozenStruct",
    "Handlers": "FailedRecord RecordError Response DeadLetter",
    "Tests": "TopologyTestDriver TestInputTopic TestOutputTopic TestRecord Drop RecordFailed "
    "MockProcessorContext CapturedForward CapturedPunctuator read_test differences "
    "plain_differences session",
    "Sessions and errors": "spark_session MillraceError ProgramError StreamStopped",
}
#: classes that programs and tests create
_CREATED = {
    "AggregationWithHeaders", "DeadLetter", "FrozenStruct", "MockProcessorContext", "Record",
    "TestRecord", "Topology", "TopologyTestDriver", "ValueTimestampHeaders",
}  # fmt: skip
_WIDTH = 96
_NONE: Mapping[str, str] = types.MappingProxyType({})
_INTRODUCTION = """\
# Names and arguments

The names that a program imports from `millrace_runtime`, and its tests from
`millrace_runtime.testing`. [From Kafka Streams](kafka-streams.md) finds them by the names that
Kafka Streams has.

- An *expression* is Spark SQL over [certain columns](columns.md), or
  [a Python function](programs.md#functions).
- A *duration* is a number of milliseconds, a text such as `"5 minutes"`, or a `timedelta`.
- A *type* is one of Spark SQL, such as `"STRUCT<a: INT>"`, or [a class](programs.md#functions).
- A *format* is the result of a function below [Formats](#formats).
- Arguments after `*` have to be named.
"""


def text() -> str:
    """The contents of the page, which `./millrace api` writes."""
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield _INTRODUCTION
    for rest, of in (("about", About), ("options", StoreOptions)):
        yield f"`**{rest}` stands for {_lowered(inspect.getdoc(of) or '')}\n"
    for title, names in SECTIONS.items():
        yield f"## {title}\n"
        for name in names.split():
            home = testing if name in testing.__all__ else millrace_runtime
            yield from _entry(name, getattr(home, name))


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _entry(name: str, found: Any) -> Iterator[str]:
    yield f"### {name}\n"
    if isinstance(found, str):
        yield f"`{found!r}`\n"
    elif inspect.isroutine(found):
        yield from _described(name, found)
    elif not isinstance(found, type):
        yield f"An alias of `{found}`.\n"
    else:
        if name in _CREATED:
            yield _block(name, found)
        yield f"{inspect.getdoc(found)}\n"
        attributes = ATTRIBUTES.get(found, {})
        yield from (f"- `{each}`: {help_}" for each, help_ in attributes.items())
        if attributes:
            yield ""
        bound = _bound(found)
        for names, member in _members(found):
            yield f"#### {name}.{names[0]}\n"
            yield from _described(names[0], member, bound)
            if names[1:]:
                yield f"Also {', '.join(f'`{each}`' for each in names[1:])}.\n"


def _members(owner: type[Any]) -> Iterator[tuple[list[str], Any]]:
    """The public methods and properties of a class, each with all of its names."""
    found: dict[Any, list[str]] = {}
    for base in reversed(owner.__mro__):
        if not base.__module__.startswith("millrace_runtime"):
            continue
        for name in vars(base):
            member = inspect.getattr_static(owner, name)
            member = getattr(member, "__func__", member)  # of a class method
            known = isinstance(member, types.FunctionType | property)
            if known and not name.startswith("_") and name not in found.setdefault(member, []):
                found[member].append(name)
    return ((names, member) for member, names in found.items())


def _bound(owner: type[Any]) -> dict[str, str]:
    """What the type variables of a class's bases stand for, such as Stream for S."""
    found: dict[str, str] = {}
    for base in getattr(owner, "__orig_bases__", ()):
        origin = get_origin(base)
        names = [each.__name__ for each in getattr(origin, "__parameters__", ())]
        of = [
            getattr(each, "__forward_arg__", getattr(each, "__name__", ""))
            for each in get_args(base)
        ]
        if origin is not Generic:
            found |= {name: each for name, each in zip(names, of, strict=False) if each != "Any"}
    return found


def _described(name: str, found: Any, bound: Mapping[str, str] = _NONE) -> Iterator[str]:
    if not isinstance(found, property):
        block = _block(name, found)
        yield re.sub(r"\b[A-Z]\w*\b", lambda each: bound.get(each[0], each[0]), block)
    yield f"{inspect.getdoc(found) or ''}\n"


def _block(name: str, found: Any) -> str:
    """The call, in one line or with a line for each argument."""
    signature = inspect.signature(found)
    function = vars(found).get("__init__", found) if isinstance(found, type) else found
    scope = getattr(inspect.unwrap(function), "__globals__", {})
    listed = list(_arguments(signature, scope))
    returned = signature.return_annotation
    result = f" -> {returned}" if isinstance(returned, str) and returned != "None" else ""
    made = f"{name}({', '.join(listed)}){result}"
    if len(made) > _WIDTH:
        made = f"{name}(\n" + "".join(f"    {each},\n" for each in listed) + f"){result}"
    return f"```text\n{made}\n```\n"


def _arguments(signature: inspect.Signature, scope: Mapping[str, Any]) -> Iterator[str]:
    named = False
    for each in signature.parameters.values():
        if each.name in ("self", "cls"):
            continue
        if each.kind is each.KEYWORD_ONLY and not named:
            yield "*"
        named = named or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        shown = str(each.replace(annotation=each.empty, default=each.empty))  # with its stars
        if isinstance(each.annotation, str) and not each.annotation.startswith("Unpack"):
            shown += f": {_choices(each.annotation, scope)}"
        yield shown if each.default is each.empty else f"{shown} = {each.default!r}"


def _choices(annotation: str, scope: Mapping[str, Any]) -> str:
    """An annotation with the choices that its names stand for."""

    def chosen(found: re.Match[str]) -> str:
        of = scope.get(found[0])
        if get_origin(of) is not Literal:
            return found[0]
        return f"Literal[{', '.join(map(repr, get_args(of)))}]"

    return re.sub(r"\b[A-Z]\w+\b", chosen, annotation)


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
