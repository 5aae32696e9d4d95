"""Columns of Spark as Spark SQL texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from millrace_runtime.functions.terms import NotTranslated, constant

#: functions that Spark SQL writes between their two arguments
_BETWEEN = {
    "+", "-", "*", "/", "%", "=", "==", "<=>", "<", "<=", ">", ">=", "!=", "<>", "&", "|", "^",
    "||", "and", "or", "like", "rlike", "ilike", "div",
}  # fmt: skip
#: seeds of fewer bits are those that people write
_INT_BITS = 32
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


class NoText(Exception):
    """A Column has no text here; the message says which part of it."""


def is_column(given: Any) -> bool:
    """Whether an argument is a Column of Spark."""
    kind = type(given)
    return kind.__name__ == "Column" and kind.__module__.startswith("pyspark.sql")


def column_text(column: Any) -> str:
    """Return the text of a Column. Raises NoText."""
    java = getattr(column, "_jc", None)
    if java is None:
        raise NoText("a Column of Spark Connect")
    node = java.node()
    while str(node.getClass().getSimpleName()) == "Alias":
        node = node.child()  # a name of the whole expression means nothing
    return _text(node)


def _text(node: Any) -> str:
    kind = str(node.getClass().getSimpleName())
    make = _MAKERS.get(kind)
    if make is None:
        raise NoText(f"the part {node.sql()}")
    return make(node)


def _each(seq: Any) -> list[Any]:
    return [seq.apply(index) for index in range(seq.size())]


def _attribute(node: Any) -> str:
    names = [str(name) for name in _each(node.nameParts())]
    return ".".join(n if _NAME.fullmatch(n) else "`" + n.replace("`", "``") + "`" for n in names)


def _literal(node: Any) -> str:
    value, given = node.value(), node.dataType()
    type_ = str(given.get().sql()) if given.isDefined() else ""
    if value is None:
        return f"CAST(NULL AS {type_})" if type_ else "NULL"
    if isinstance(value, bool | int | float | str) and not type_.startswith("DECIMAL"):
        try:
            sql = constant(value).sql
        except NotTranslated:
            raise NoText(f"the constant {value}") from None
        long = type_ == "BIGINT" and not sql.endswith("L")
        made = f"{sql}L" if long else sql
        return f"({made})" if made.startswith("-") else made
    raise NoText(f"the constant {node.sql()}")


def _function(node: Any) -> str:
    name, args = str(node.functionName()), [_text(each) for each in _each(node.arguments())]
    if node.isDistinct():
        raise NoText(f"the function {name}")
    if name.lower() in _BETWEEN and len(args) == 2:
        return f"({args[0]} {name.upper()} {args[1]})"
    if name in ("!", "not") and len(args) == 1:
        return f"(NOT {args[0]})"
    if name in ("-", "negative") and len(args) == 1:
        return f"(- {args[0]})"
    if name == "in":
        return f"({args[0]} IN ({', '.join(args[1:])}))"
    if name in ("rand", "randn", "uuid") and len(args) == 1 and _chosen_by_spark(args[0]):
        args = []
    if not _NAME.fullmatch(name):
        raise NoText(f"the operator {name}")
    return f"{name}({', '.join(args)})"


def _chosen_by_spark(seed: str) -> bool:
    """Whether PySpark chose a seed, which differs whenever the program runs: one of 64 bits."""
    digits = seed.strip("()").lstrip("-").removesuffix("L")
    return digits.isdecimal() and int(digits).bit_length() >= _INT_BITS


def _alias(node: Any) -> str:
    names = [str(name) for name in _each(node.name())]
    return f"{_text(node.child())} AS `{names[0]}`" if len(names) == 1 else _text(node.child())


def _cast(node: Any) -> str:
    mode = str(node.evalMode())
    function = "TRY_CAST" if "Try" in mode else "CAST"
    return f"{function}({_text(node.child())} AS {node.dataType().sql()})"


def _case(node: Any) -> str:
    parts = [f"WHEN {_text(pair._1())} THEN {_text(pair._2())}" for pair in _each(node.branches())]
    if node.otherwise().isDefined():
        parts.append(f"ELSE {_text(node.otherwise().get())}")
    return f"CASE {' '.join(parts)} END"


def _extract(node: Any) -> str:
    return f"{_text(node.child())}[{_text(node.extraction())}]"


def _lambda(node: Any) -> str:
    names = ", ".join(_text(each) for each in _each(node.arguments()))
    names = names if ", " not in names else f"({names})"
    return f"{names} -> {_text(node.function())}"


_MAKERS: dict[str, Callable[[Any], str]] = {
    "UnresolvedAttribute": _attribute,
    "Literal": _literal,
    "UnresolvedFunction": _function,
    "Alias": _alias,
    "Cast": _cast,
    "CaseWhenOtherwise": _case,
    "UnresolvedExtractValue": _extract,
    "LambdaFunction": _lambda,
    "UnresolvedNamedLambdaVariable": lambda node: str(node.name()),
    "SqlExpression": lambda node: f"({node.expression()})",
}
