"""Structured parameters: branches, groupings, inputs of a cogroup, code, types ..."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from millrace_compiler.diagnostics.diagnostics import Position, kind_of
from millrace_compiler.parameters.parameters import (
    Faults,
    Name,
    Parameter,
    is_name,
    read_expression,
)
from millrace_compiler.types.types import DataType, NoType, parse_type

PORT = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_PORT_NEEDED = "a port name: a letter, then letters, digits, “-” and “_”"


def read_port(raw: object, faults: Faults, path: str, taken: list[str]) -> str | None:
    """Reads the name of a port, which must not be in ``taken``, and adds it to ``taken``."""
    if not isinstance(raw, str) or not PORT.fullmatch(raw) or raw == "store":
        faults.shape(raw, _PORT_NEEDED, path)
        return None
    if raw in taken:
        faults.add("name_twice", path=path, name=raw, what="port")
        return None
    taken.append(raw)
    return raw


def read_parts(raw: object, faults: Faults, path: str, known: tuple[str, ...]) -> dict[str, object]:
    """Reads an object, without null values; reports unknown properties."""
    if not isinstance(raw, dict):
        faults.shape(raw, f"an object with {', '.join(known)}", path)
        return {}
    for part in raw:
        if part not in known:
            faults.add("unknown_part", path=f"{path}.{part}", part=part, known=", ".join(known))
    return {name: value for name, value in raw.items() if value is not None}


def read_ports(
    raw: object, faults: Faults, what: str, known: tuple[str, ...]
) -> Iterator[tuple[str, str | None, dict[str, object]]]:
    """Reads a list of objects with a port: yields path, port and properties of each."""
    if not isinstance(raw, list) or not raw:
        faults.shape(raw, f"a list of {what}")
        return
    taken: list[str] = []
    for index, item in enumerate(raw):
        path = f"[{index}]"
        parts = read_parts(item, faults, path, ("port", *known))
        if isinstance(item, dict):
            yield path, read_port(parts.get("port"), faults, f"{path}.port", taken), parts


@dataclass(frozen=True)
class Branch:
    """One branch of a split."""

    port: str
    predicate: str


class Branches(Parameter[tuple[Branch, ...]]):
    """Branches in the order in which they are tried."""

    widget = "branches"

    def neutral(self) -> tuple[Branch, ...]:
        return ()

    def parse(self, raw: object, faults: Faults) -> tuple[Branch, ...]:
        branches: list[Branch] = []
        what = "branches with port and predicate"
        for path, port, parts in read_ports(raw, faults, what, ("predicate",)):
            predicate = read_expression(parts.get("predicate"), faults, f"{path}.predicate")
            if port:
                branches.append(Branch(port, predicate))
        return tuple(branches)

    def expression(self) -> dict[str, object]:
        return {"columns": "record", "expects": "BOOLEAN"}


class PortNames(Parameter[tuple[str, ...]]):
    """Names of output ports."""

    widget = "outputs"

    def neutral(self) -> tuple[str, ...]:
        return ("out",)

    def parse(self, raw: object, faults: Faults) -> tuple[str, ...]:
        if not isinstance(raw, list) or not raw:
            faults.shape(raw, "a list of port names")
            return self.neutral()
        taken: list[str] = []
        for index, item in enumerate(raw):
            read_port(item, faults, f"[{index}]", taken)
        return tuple(taken) or self.neutral()


class MethodNames(Parameter[tuple[str, ...]]):
    """Names of input ports, each of which a method of a class handles."""

    widget = "methods"

    def neutral(self) -> tuple[str, ...]:
        return ()

    def parse(self, raw: object, faults: Faults) -> tuple[str, ...]:
        if not isinstance(raw, list):
            faults.shape(raw, "a list of port names")
            return self.neutral()
        taken: list[str] = ["in", *_OTHER_METHODS]
        for index, item in enumerate(raw):
            if isinstance(item, str) and item not in taken and not item.isidentifier():
                faults.shape(item, "the name of a method: a letter, then letters and digits")
            else:
                read_port(item, faults, f"[{index}]", taken)
        return tuple(taken[len(_OTHER_METHODS) + 1 :])


#: Methods of a processor that handle no port of their own.
_OTHER_METHODS = ("init", "process", "close")


class PortName(Parameter[str]):
    """The name of one more output port."""

    widget = "text"

    def neutral(self) -> str:
        return "default"

    def parse(self, raw: object, faults: Faults) -> str:
        return read_port(raw, faults, "", []) or self.neutral()


@dataclass(frozen=True)
class Grouping:
    """A grouping: the expression of the new key, and for a table of the new value."""

    key: str
    value: str | None = None


class GroupBy(Parameter[Grouping]):
    """A grouping, ``{"key": "value.item"}``, for a table ``{"key": ..., "value": ...}``."""

    widget = "group_by"

    def neutral(self) -> Grouping:
        return Grouping("")

    def parse(self, raw: object, faults: Faults) -> Grouping:
        return read_grouping(raw, faults, "")

    def expression(self) -> dict[str, object]:
        return {"columns": "record", "expects": None}


def read_grouping(raw: object, faults: Faults, path: str) -> Grouping:
    """A grouping at a place inside a parameter."""
    parts = read_parts(raw, faults, path, ("key", "value"))
    if not isinstance(raw, dict):
        return Grouping("")
    if "key" not in parts:
        faults.add("part_missing", path=f"{path}.key", part="key")
    key = read_expression(parts["key"], faults, f"{path}.key") if "key" in parts else ""
    value = read_expression(parts["value"], faults, f"{path}.value") if "value" in parts else None
    return Grouping(key, value)


@dataclass(frozen=True)
class CogroupInput:
    """One input of a cogroup."""

    port: str
    aggregator: str
    group_by: Grouping | None
    repartition: str | None = None


class CogroupInputs(Parameter[tuple[CogroupInput, ...]]):
    """Inputs of a cogroup, each with a port and an aggregator of its own."""

    widget = "cogroup_inputs"

    def neutral(self) -> tuple[CogroupInput, ...]:
        return ()

    def parse(self, raw: object, faults: Faults) -> tuple[CogroupInput, ...]:
        inputs: list[CogroupInput] = []
        what, known = "inputs with port and aggregator", ("group_by", "aggregator", "repartition")
        for path, port, parts in read_ports(raw, faults, what, known):
            aggregator = read_expression(parts.get("aggregator"), faults, f"{path}.aggregator")
            by = None
            if "group_by" in parts:
                by = read_grouping(parts["group_by"], faults, f"{path}.group_by")
                if by.value is not None:
                    faults.add("group_by_value", path=f"{path}.group_by.value")
            topic = parts.get("repartition")
            if topic is not None and not is_name(topic):
                faults.shape(topic, Name.needed, f"{path}.repartition")
                topic = None
            if port:
                inputs.append(CogroupInput(port, aggregator, by, topic))
        return tuple(inputs)

    def expression(self) -> dict[str, object]:
        return {"columns": "aggregate", "expects": None}


class TypeOf(Parameter[DataType | None]):
    """A Spark type as DDL; ``None`` if it is not valid."""

    widget = "type"

    def neutral(self) -> DataType | None:
        return None

    def parse(self, raw: object, faults: Faults) -> DataType | None:
        return read_type(raw, faults, None)


def read_type(raw: object, faults: Faults, path: str | None) -> DataType | None:
    """A type at a place inside a parameter."""
    if not isinstance(raw, str):
        faults.shape(raw, "a Spark type as text", path)
        return None
    try:
        return parse_type(raw)
    except NoType as error:
        faults.add("type", path=path, found=raw[:60], reason=str(error))
        return None


@dataclass(frozen=True)
class OutputTypes:
    """Key and value type of a processor's output; ``None``: the type of its input."""

    key: DataType | None = None
    value: DataType | None = None
    broken: bool = False


class OutputTypesOf(Parameter[OutputTypes]):
    """``{"key": "STRING", "value": "BIGINT"}``; an omitted type is the input's."""

    widget = "output_types"

    def neutral(self) -> OutputTypes:
        return OutputTypes(broken=True)

    def parse(self, raw: object, faults: Faults) -> OutputTypes:
        parts = read_parts(raw, faults, "", ("key", "value"))
        if not isinstance(raw, dict):
            return self.neutral()
        types = {name: read_type(value, faults, f".{name}") for name, value in parts.items()}
        broken = any(found is None for found in types.values())
        return OutputTypes(types.get("key"), types.get("value"), broken)


class KeyValues(Parameter[tuple[tuple[str, str], ...]]):
    """Names and values, such as a topic's configuration."""

    widget = "key_values"

    def neutral(self) -> tuple[tuple[str, str], ...]:
        return ()

    def parse(self, raw: object, faults: Faults) -> tuple[tuple[str, str], ...]:
        if not isinstance(raw, dict):
            faults.shape(raw, "an object of names and values")
            return self.neutral()
        pairs: list[tuple[str, str]] = []
        for name, value in raw.items():
            if isinstance(value, str | int | float | bool):
                text = str(value).lower() if isinstance(value, bool) else str(value)
                pairs.append((str(name), text))
            else:
                faults.add("parameter_type", path=f".{name}", found=kind_of(value), needed="text")
        return tuple(sorted(pairs))


class Code(Parameter[str]):
    """Python source. It is parsed, never run, by the compiler."""

    widget = "code"

    def neutral(self) -> str:
        return ""

    def parse(self, raw: object, faults: Faults) -> str:
        if not isinstance(raw, str) or not raw.strip():
            faults.shape(raw, "Python source as text")
            return self.neutral()
        try:
            ast.parse(raw)
        except SyntaxError as error:
            line = error.lineno or 1
            faults.add(
                "code_syntax",
                position=_position(raw, line, error.offset or 1),
                reason=error.msg,
                line=line,
            )
            return self.neutral()
        except (ValueError, RecursionError, MemoryError) as error:
            faults.add("code_syntax", reason=str(error), line=1)
            return self.neutral()
        return raw


class Functions(Code):
    """Python source of functions that expressions call."""

    def parse(self, raw: object, faults: Faults) -> str:
        code = super().parse(raw, faults)
        if code and not parameters_in(code):
            faults.add("functions_none")
        return code


class FunctionTypes(KeyValues):
    """The types that functions return, by their names."""

    def parse(self, raw: object, faults: Faults) -> tuple[tuple[str, str], ...]:
        found = super().parse(raw, faults)
        sound = []
        for name, text in found:
            type_ = read_type(text, faults, f".{name}")
            if type_ is not None:
                sound.append((name, text))
        return tuple(sound)


def parameters_in(code: str) -> dict[str, tuple[str, ...]]:
    """The top-level functions of valid Python source, with their parameters without a default."""
    found = {}
    for item in ast.parse(code).body:
        if isinstance(item, ast.FunctionDef):
            args = item.args
            named = [each.arg for each in (*args.posonlyargs, *args.args)]
            alone = zip(args.kwonlyargs, args.kw_defaults, strict=True)
            needed = named[: len(named) - len(args.defaults)]
            needed += [each.arg for each, default in alone if default is None]
            found[item.name] = tuple(needed)
    return found


def functions_in(code: str) -> list[str]:
    """Names of the top-level functions in valid Python source."""
    return [item.name for item in ast.parse(code).body if isinstance(item, ast.FunctionDef)]


def takes(code: str, name: str, count: int) -> bool:
    """Whether a top-level function of valid source can be called with ``count`` arguments."""
    defined = [item for item in ast.parse(code).body if isinstance(item, ast.FunctionDef)]
    args = next(item for item in reversed(defined) if item.name == name).args
    most = len(args.posonlyargs) + len(args.args)
    needed = any(default is None for default in args.kw_defaults)
    fits = most - len(args.defaults) <= count and (most >= count or args.vararg is not None)
    return fits and not needed


def _position(text: str, line: int, column: int) -> Position:
    lines = text.split("\n")
    start = sum(len(x) + 1 for x in lines[: line - 1]) + column - 1
    end = sum(len(x) + 1 for x in lines[:line]) - 1
    start = min(start, len(text))
    return Position(start, max(start + 1, end))


class Arguments(Parameter[dict[str, object]]):
    """Values by name, as JSON has them: the arguments of a class."""

    widget = "arguments"

    def neutral(self) -> dict[str, object]:
        return {}

    def parse(self, raw: object, faults: Faults) -> dict[str, object]:
        if not isinstance(raw, dict):
            faults.shape(raw, "an object of names and values")
            return self.neutral()
        for name in raw:
            if not name.isidentifier():
                faults.shape(name, "the name of an argument: a letter, then letters and digits")
        return raw


@dataclass(frozen=True)
class Signature:
    """The arguments that a class is created with: those it needs, and all that it knows."""

    needed: tuple[str, ...]
    known: tuple[str, ...]


def signature_of(code: str, class_name: str) -> Signature | None:
    """The signature of a class in valid Python source; ``None`` if the source does not show it.

    It does not if the class inherits from another than ``Processor``, or has ``**arguments``.
    """
    found = [
        x for x in ast.parse(code).body if isinstance(x, ast.ClassDef) and x.name == class_name
    ]
    if not found:
        return None
    init = next(
        (x for x in found[-1].body if isinstance(x, ast.FunctionDef) and x.name == "__init__"), None
    )
    if init is None:
        bases = {base.id if isinstance(base, ast.Name) else "" for base in found[-1].bases}
        return Signature((), ()) if bases <= {"Processor", "object"} else None
    given = init.args
    if given.kwarg is not None:
        return None
    names = [each.arg for each in (*given.posonlyargs, *given.args)][1:]
    needed = names[: len(names) - len(given.defaults)]
    alone = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    needed += [each.arg for each, default in alone if default is None]
    return Signature(tuple(needed), (*names, *(each.arg for each in given.kwonlyargs)))


def methods_of(code: str, class_name: str) -> set[str] | None:
    """Methods of a class in valid Python source; ``None`` if it may inherit others."""
    for item in ast.parse(code).body:
        if isinstance(item, ast.ClassDef) and item.name == class_name:
            bases = {base.id if isinstance(base, ast.Name) else "" for base in item.bases}
            own = {each.name for each in item.body if isinstance(each, ast.FunctionDef)}
            return own if bases <= {"Processor", "object"} else None
    return None


def classes_in(code: str) -> list[str]:
    """Names of the top-level classes in valid Python source."""
    return [item.name for item in ast.parse(code).body if isinstance(item, ast.ClassDef)]
