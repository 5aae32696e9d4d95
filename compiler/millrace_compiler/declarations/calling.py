"""Operators whose expressions can call functions in Python."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from millrace_compiler.declarations.calls import Call, Chain, Function, with_keywords
from millrace_compiler.declarations.functions import (
    AGGREGATOR,
    INITIALIZER,
    JOINER,
    MERGER,
    PAIR,
    RECORD,
    Binding,
    bound,
)
from millrace_compiler.declarations.operator import Operator
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.parameters.parameters import DependsOn, optional
from millrace_compiler.parameters.parts import Functions, FunctionTypes, parameters_in

FUNCTIONS_HELP = (
    "Python functions that the expressions of this node can call, such as `add(key, value, agg)`."
)
RETURNS_HELP = "The Spark SQL type of what each function returns, by its name."
WITH_FUNCTIONS = DependsOn("functions")
_CALL = re.compile(r"(`?)([A-Za-z_]\w*)\1\(([\w, ]*)\)(\.key|\.value)?")


class Calling(Operator):
    """Base class of operators whose expressions can call functions in Python."""

    last = ("functions", "returns")
    #: What the parameters of a function stand for, by the parameter that it is the value of.
    bindings: ClassVar[Mapping[str, Binding]] = {
        "predicate": RECORD,
        "value": RECORD,
        "key": RECORD,
        "topic_expression": RECORD,
        "partition": RECORD,
        "aggregator": AGGREGATOR,
        "subtractor": AGGREGATOR,
        "initializer": INITIALIZER,
        "merger": MERGER,
        "joiner": JOINER,
        "foreign_key": PAIR,
        "timestamp": RECORD,
    }

    # A program writes them; a form shows them where there are some.
    functions = optional(Functions("Functions", FUNCTIONS_HELP, depends_on=WITH_FUNCTIONS))
    returns = optional(FunctionTypes("Types of functions", RETURNS_HELP, depends_on=WITH_FUNCTIONS))

    @property
    def called_functions(self) -> Mapping[str, str]:
        if not self.functions:
            return {}
        known = parameters_in(self.functions)
        return {name: type_ for name, type_ in self.returns or () if name in known}

    def step_functions(self) -> dict[str, object] | None:
        if not self.called_functions:
            return None
        return {"code": self.functions, "returns": dict(self.called_functions)}

    def check(self, report: Diagnostics) -> None:
        super().check(report)
        if self.functions is not None and not self.returns and self.functions:
            self.fault(report, "functions_untyped", "returns")
        known = parameters_in(self.functions or "")
        for name, _ in self.returns or ():
            if name not in known and (self.functions or self.node.params.get("functions") is None):
                self.fault(report, "functions_unknown", "returns", f".{name}", name=name)

    def changed(self, *skipped: str) -> dict[str, object]:
        return super().changed(*skipped, *self.last)

    def words_with_code(self) -> list[Call]:
        calls = self.words()
        if not self.functions:
            return calls
        given = {"code": self.functions, "returns": dict(self.returns or ())}
        return [*calls[:-1], with_keywords(calls[-1], functions=given)]

    def words_with_functions(self) -> list[Call] | None:
        if not self.called_functions:
            return None
        writing = _Writing(self.functions or "", dict(self.returns or ()), self.bindings)
        return writing.written(self.words())


@dataclass
class _Writing:
    """Writes functions in place of the expressions that only call them."""

    code: str
    returns: dict[str, str]
    bindings: Mapping[str, Binding]

    def __post_init__(self) -> None:
        self.parameters = parameters_in(self.code)
        self.used: set[str] = set()

    def written(self, calls: Sequence[Call]) -> list[Call] | None:
        """The calls; None if a function is used otherwise."""
        made = [self._call(each) for each in calls]
        whole = self.used == set(self.returns) and None not in made
        return [each for each in made if each is not None] if whole else None

    def _call(self, call: Call) -> Call | None:
        names = ("key", "value") if call.function == "group_by" else _FIRST.get(call.function, ())
        if call.args and isinstance(call.args[0], Chain):
            names = ("", *names)
        named = list(zip(names, call.args, strict=False))
        if call.function == "group_by" and len(named) == 1:
            return call  # of a stream: a function would become a node of its own
        texts = {name: arg for name, arg in (*named, *call.keywords) if name in self.bindings}
        found = {name: self._function(name, text) for name, text in texts.items()}
        functions = {name: each for name, each in found.items() if each is not None}
        if not functions:
            return call
        several = call.function in ("group_by", "map")
        untyped = (("key",) if several else ()) + _UNTYPED
        typed = {n: self.returns[f.name] for n, (f, _) in functions.items() if n in untyped}
        pair = [part for _, part in functions.values()]
        if any(pair):
            return self._grouped(call, functions, pair)
        args = tuple(
            functions[names[i]][0] if i < len(names) and names[i] in functions else arg
            for i, arg in enumerate(call.args)
        )
        keywords = tuple(
            (name, functions[name][0] if name in functions else value)
            for name, value in call.keywords
        )
        returns: object = typed or None
        if not several and typed:
            returns = next(iter(typed.values()))
        return with_keywords(Call(call.function, args, keywords), returns=returns)

    def _grouped(
        self, call: Call, functions: Mapping[str, tuple[Function, str]], parts: Sequence[str]
    ) -> Call | None:
        """A function that returns a tuple of key and value."""
        names = {function.name for function, _ in functions.values()}
        if call.function != "group_by" or parts != [".key", ".value"] or len(names) > 1:
            return None
        function = functions["key"][0]
        made = Call(call.function, (function,), call.keywords)
        return with_keywords(made, returns=self.returns[function.name])

    def _function(self, parameter: str, text: object) -> tuple[Function, str] | None:
        found = _CALL.fullmatch(text) if isinstance(text, str) else None
        if found is None or found.group(2) not in self.returns:
            return None
        name, columns = found.group(2), tuple(found.group(3).split(", ") if found.group(3) else ())
        if bound(self.parameters[name], self.bindings[parameter]) != columns:
            return None
        if self.returns[name] != _OF_PLACE.get(parameter, self.returns[name]):
            return None
        self.used.add(name)
        return Function(self.code, name, tuple(self.returns)), found.group(4) or ""


#: The parameters that are positional arguments of a call.
_FIRST = {
    "filter": ("predicate",), "filter_not": ("predicate",), "map_values": ("value",),
    "reduce": ("reducer",), "cogroup": ("aggregator",),
}  # fmt: skip
#: Parameters whose functions decide a type, so that a program has to say it.
_UNTYPED = ("value", "joiner")
#: The type that a program gives the function of a parameter.
_OF_PLACE = {"timestamp": "TIMESTAMP"}
