"""Converts Spark's errors for invalid expressions to diagnostics of the compiler.

Spark reports an error condition with parameters. The common conditions have codes of their own in
:mod:`millrace_compiler.diagnostics.messages`, with the closest known name and the narrowest
position in the text; other errors keep Spark's message.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from millrace_compiler.diagnostics.diagnostics import Position
from millrace_compiler.diagnostics.guesses import nearest
from millrace_compiler.inference.analysis import ExpressionError
from millrace_compiler.types.types import DataType

FUNCTIONS_FILE = Path(__file__).parent / "functions.json"

Columns = Sequence[tuple[str, DataType | None]]
Facts = Mapping[str, str]

_SYNTAX = ("PARSE", "_LEGACY_ERROR_TEMP_PARSE", "INVALID_TYPED_LITERAL")
_MISMATCH = re.compile(r"gives (.+), needs (.+)", re.DOTALL)
_WORD = re.compile(r"\w+|`[^`]+`")
_CALLED = re.compile(r"`[^`]+`|[\w.]+")
_TOKEN = re.compile(r"\w+|['\"`].*|[^\w\s]+", re.DOTALL)
#: characters that keyboards and word processors put in place of SQL's own
_LOOKALIKES = {
    "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "（": "(", "）": ")", "，": ",", "：": ":",
    "；": ";", "＝": "=", "＋": "+", "－": "-", "–": "-", "—": "-", "×": "*", "÷": "/", "≠": "<>",
    "≤": "<=", "≥": ">=",
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A code of the prose, the facts of its sentence, and the place in the text."""

    code: str
    data: Mapping[str, object] = field(default_factory=dict)
    position: Position | None = None


def certain(error: ExpressionError) -> bool:
    """Whether the error is certain even if the types of some columns are unknown."""
    condition = error.condition or ""
    return condition.startswith((*_SYNTAX, *_CERTAIN))


def fault_of(text: str, columns: Columns, error: ExpressionError) -> Fault:
    """The diagnostic for Spark's error in an expression over the columns."""
    found = _Found(text, columns, error)
    condition = error.condition or ""
    mismatch = _MISMATCH.fullmatch(error.message)
    if mismatch:
        data = {"found": mismatch[1], "needed": mismatch[2]}
        return Fault("expression_type", data, found.position)
    made = None
    for prefix, answer in _ANSWERS:
        if condition.startswith(prefix):
            made = answer(found)
            break
    if made is None:
        code = "expression_syntax" if condition.startswith(_SYNTAX) else "expression"
        made = Fault(code, {"reason": found.reason()}, found.position)
    return made


@functools.cache
def functions() -> dict[str, str]:
    """Spark's functions that an expression may call, each with its usage."""
    listed = json.loads(FUNCTIONS_FILE.read_text("utf-8"))
    return {str(each["name"]): str(each["usage"]) for each in listed}


class _Found:
    """A refused expression: its text, its columns, Spark's error and its position."""

    def __init__(self, text: str, columns: Columns, error: ExpressionError) -> None:
        self.text, self.columns, self.error = text, columns, error
        self.facts: Facts = error.facts
        self.position = _position(text, error)

    # ---- places ----------------------------------------------------------------------------

    @property
    def marked(self) -> str:
        """The text at the position of the error."""
        return self.text[self.position.start : self.position.stop]

    def only(self, pattern: re.Pattern[str]) -> Position:
        """The start of the marked text that matches the pattern; all of it if nothing matches."""
        begins = pattern.match(self.marked)
        start = self.position.start
        return Position(start, start + begins.end()) if begins else self.position

    def last(self, name: str) -> Position:
        """The last occurrence of a word in the marked text; all of it if there is none."""
        words = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", self.marked, re.IGNORECASE)
        start = self.position.start
        places = [Position(start + word.start(), start + word.end()) for word in words]
        return places[-1] if places else self.position

    # ---- words -----------------------------------------------------------------------------

    def reason(self) -> str:
        """Spark's message, or a fallback if it has none. Ends with a period."""
        error = self.error
        if error.message:
            detail = error.message.split(" due to data type mismatch: ")[-1]
            return detail if detail.endswith(".") else f"{detail}."
        if error.start is not None and error.start >= len(self.text):
            return "it ends unexpectedly."
        if (error.condition or "").startswith(_SYNTAX) and error.start is not None:
            return f"“{self.marked.strip()[:40]}” is not expected there."
        return f"{(error.condition or 'it is not valid').replace('_', ' ').lower()}."

    def fact(self, name: str) -> str:
        """A parameter of the error, without Spark's quotes."""
        value = self.facts.get(name, "")
        return value.strip('"') if value.startswith('"') else value.strip("`")


def _position(text: str, error: ExpressionError) -> Position:
    """Position of the error: at least one character, the whole text if it is unknown."""
    if error.start is None or error.start < 0:
        return Position(0, max(1, len(text)))
    start = max(0, min(error.start, len(text) - 1))
    return Position(start, max(start + 1, min(error.stop or 0, len(text))))


# ---- answers, one for each condition -------------------------------------------------------


def _syntax(found: _Found) -> Fault:
    text, at = found.text, found.position.start
    place = found.only(_TOKEN)
    odd = next((c for c in text[at : place.stop] if c in _LOOKALIKES), None)
    if odd is not None:
        start = text.index(odd, at)
        data = {"found": odd, "plain": _LOOKALIKES[odd]}
        return Fault("expression_character", data, Position(start, start + 1))
    if found.error.start is not None and found.error.start >= len(text.rstrip()):
        end = max(1, len(text.rstrip()))
        missing = re.search(r"missing '(.+)'", found.error.message)
        if missing:
            return Fault("expression_unclosed", {"needed": missing[1]}, Position(end - 1, end))
        return Fault("expression_ends", {}, Position(end - 1, end))
    if text[at : at + 1] in ("'", '"', "`") and text[at + 1 :].count(text[at]) == 0:
        return Fault("expression_open_quote", {"quote": text[at]}, Position(at, len(text)))
    if re.match(r"\s*select\b", text, re.IGNORECASE):
        return Fault("expression_statement", {}, found.position)
    token = found.facts.get("error", "").strip("'")
    if token and not found.marked.startswith(token):
        # The error is in the text of a type within the expression.
        return Fault("expression_data_type", {"found": token}, found.last(token))
    word = text[at : place.stop][:40]
    shown = f"“{word}”" if word.isprintable() else " ".join(f"U+{ord(c):04X}" for c in word)
    return Fault("expression_syntax", {"reason": f"{shown} is not expected here."}, place)


def _function(found: _Found) -> Fault:
    name = found.fact("routineName").replace("`", "")
    close = nearest(name, list(functions()))
    place = found.only(_CALLED)
    if close is None:
        return Fault("expression_function_other", {"found": name}, place)
    return Fault("expression_function", {"found": name, "nearest": close}, place)


def _column(found: _Found) -> Fault:
    parts = re.findall(r"`([^`]*)`", found.facts.get("objectName", "")) or [found.marked]
    name, rest = parts[0], parts[1:]
    known = ", ".join(column for column, _ in found.columns)
    place = found.only(_WORD) if rest else found.position
    if found.error.start is None or found.error.start < 0:
        place = found.last(name)
    if not found.columns:
        return Fault("expression_no_columns", {"found": name}, place)
    fields = {
        f"{column}.{each}": each
        for column, type_ in found.columns
        if type_ is not None
        for each in type_.fields
    }
    candidates = {column: column for column, _ in found.columns}
    if not rest:
        candidates |= fields
    exact = [path for path, last in candidates.items() if last.lower() == name.lower()]
    close = exact[0] if exact else nearest(name, list(candidates.values()))
    path = close if exact else next((p for p, last in candidates.items() if last == close), None)
    data = {"found": name, "known": known}
    if path is None:
        return Fault("expression_column_other", data, place)
    return Fault("expression_column", {**data, "nearest": path}, place)


def _field(found: _Found) -> Fault:
    name = found.fact("fieldName")
    known = re.findall(r"`([^`]*)`", found.facts.get("fields", ""))
    data = {"found": name, "known": ", ".join(known)}
    close = nearest(name, known)
    if close is None:
        return Fault("expression_field_other", data, found.last(name))
    return Fault("expression_field", {**data, "nearest": close}, found.last(name))


def _no_parts(found: _Found) -> Fault:
    data = {"base": _short(found.fact("base")), "type": _short(found.fact("other"))}
    return Fault("expression_no_parts", data, found.position)


def _arguments(found: _Found) -> Fault:
    name = found.fact("functionName")
    counts = found.facts.get("expectedNum", "").strip("[]")
    needed = " or ".join(part.strip() for part in counts.split(","))
    usage = functions().get(name) or f"{name}(…)"
    data = {
        "function": name,
        "needed": f"{needed} argument{'' if needed == '1' else 's'}",
        "found": found.facts.get("actualNum", ""),
        "usage": usage,
    }
    return Fault("expression_arguments", data, found.position)


def _sides(found: _Found) -> Fault:
    data = {"left": _short(found.fact("left")), "right": _short(found.fact("right"))}
    return Fault("expression_sides", data, found.position)


def _operand(found: _Found) -> Fault:
    data = {
        "needed": _plain(found.facts.get("inputType", "")),
        "found": _plain(found.facts.get("actualDataType", "")),
    }
    return Fault("expression_operand", data, found.position)


def _argument(found: _Found) -> Fault:
    place, argument = found.facts.get("paramIndex", ""), found.fact("inputSql")
    named = "" if "lambda" in argument else f", {argument},"
    data = {
        "argument": f"{place} argument{named}",
        "needed": _plain(found.facts.get("requiredType", "")),
        "found": _short(found.fact("inputType")),
    }
    return Fault("expression_argument", data, found.position)


def _cast(found: _Found) -> Fault:
    data = {"found": _short(found.fact("srcType")), "needed": _short(found.fact("targetType"))}
    return Fault("expression_cast", data, found.position)


def _literal(found: _Found) -> Fault | None:
    if found.fact("unsupportedType").upper() == "SELECT":
        return Fault("expression_subquery", {}, found.only(_WORD))
    return None


def _data_type(found: _Found) -> Fault:
    return Fault("expression_data_type", {"found": found.fact("typeName")}, found.only(_WORD))


def _named(code: str) -> Callable[[_Found], Fault]:
    """An answer whose sentence names the marked text."""

    def answer(found: _Found) -> Fault:
        return Fault(code, {"found": _short(found.marked)}, found.position)

    return answer


def _reasoned(code: str) -> Callable[[_Found], Fault]:
    """An answer whose sentence contains the error's message."""

    def answer(found: _Found) -> Fault:
        return Fault(code, {"reason": found.error.message}, found.position)

    return answer


def _facts(code: str, *names: str) -> Callable[[_Found], Fault]:
    """An answer whose sentence contains facts of the error."""

    def answer(found: _Found) -> Fault:
        return Fault(code, {name: found.fact(name) for name in names}, found.position)

    return answer


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"


def _plain(types: str) -> str:
    """`("INT" or "BIGINT")` as `INT or BIGINT`."""
    return types.replace('"', "").strip("()")


_ANSWERS: tuple[tuple[str, Callable[[_Found], Fault | None]], ...] = (
    ("PARSE_SYNTAX_ERROR", _syntax),
    ("FAILED_TO_PARSE_TOO_COMPLEX", _named("expression_deep")),
    ("UNRESOLVED_ROUTINE", _function),
    ("UNRESOLVED_COLUMN", _column),
    ("FIELD_NOT_FOUND", _field),
    ("INVALID_EXTRACT_BASE_FIELD_TYPE", _no_parts),
    ("WRONG_NUM_ARGS", _arguments),
    ("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", _sides),
    ("DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE", _operand),
    ("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", _argument),
    ("DATATYPE_MISMATCH.CAST_", _cast),
    ("UNSUPPORTED_TYPED_LITERAL", _literal),
    ("UNSUPPORTED_DATATYPE", _data_type),
    ("AGGREGATE", _named("expression_aggregate")),
    ("GENERATOR", _named("expression_generator")),
    ("WINDOW", _named("expression_window")),
    ("SUBQUERY", _named("expression_subquery")),
    ("CURRENT_TIME", _named("expression_present_time")),
    ("NOT_DETERMINISTIC", _named("expression_random")),
    ("EVALUATED_AGAIN", _named("expression_evaluated_again")),
    ("DRAW_IN_LAMBDA", _named("expression_random_element")),
    ("ONE_VALUE", _named("expression_star")),
    ("UNBOUND_SQL_PARAMETER", _named("expression_parameter")),
    ("TOO_DEEP", _named("expression_deep")),
    ("TOO_LARGE", _reasoned("expression_large")),
    ("DEADLINE", _reasoned("expression_slow")),
    ("FUNCTION", _facts("expression_function_refused", "found", "reason")),
    ("IDENTIFIER_CLAUSE", _named("expression_identifier")),
    ("OPTIONS_FORM", _facts("expression_options", "function")),
    ("OPTION", _facts("expression_option", "function", "option", "known")),
    ("TEXT_AS_NUMBER", _facts("expression_text_as_number", "found", "type")),
    ("TYPE_FORM", _facts("expression_type_text", "function")),
)
#: conditions that do not depend on the types of columns
_CERTAIN = (
    "UNRESOLVED_ROUTINE", "WRONG_NUM_ARGS", "GENERATOR", "WINDOW", "SUBQUERY", "TOO_DEEP",
    "UNSUPPORTED_DATATYPE", "UNBOUND_SQL_PARAMETER", "TOO_LARGE", "DEADLINE", "FUNCTION",
    "IDENTIFIER_CLAUSE", "OPTION", "TYPE_FORM",
)  # fmt: skip
