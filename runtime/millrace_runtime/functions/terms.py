"""Parts of a translated function: SQL text with what is known about the Python value it stands for.

Spark's NULL stands for two things in the text of a term: the value None, and an exception that
Python raises, such as in `None + 1`. `Term.sql` does not tell them apart; `Term.clean` raises an
error in place of the exception, so that its NULL is None.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from millrace_compiler.types.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    STRING,
    VOID,
    DataType,
    quote,
)

Facts = frozenset[str]
NOTHING: Facts = frozenset()
LONG_LOW, LONG_HIGH = -(2**63), 2**63 - 1
INT_LOW, INT_HIGH = -(2**31), 2**31 - 1
#: integers up to this one are numbers of type DOUBLE
EXACT_DOUBLE = 2**53
#: constants that are no values of an expression, but can be looked into
CONTAINERS = (list, tuple, set, frozenset, dict)
_BITS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
_KINDS = {
    **dict.fromkeys(_BITS, "int"), "DOUBLE": "float", "STRING": "str", "BOOLEAN": "bool",
    "STRUCT": "struct", "ARRAY": "list", "MAP": "map", "TIMESTAMP": "time", "VOID": "none",
}  # fmt: skip
_WORD = re.compile(r"\w+|[^\w\s()]")
_VARIABLE = re.compile(r"x\d*")
# How strongly the last operator of a text binds.
ATOM, SIGN, TIMES, PLUS, COMPARED, NOT, AND, OR = 9, 8, 7, 6, 5, 4, 3, 2


class NotTranslated(Exception):
    """The function cannot be an expression with the same results; the message is the reason."""


class UnknownField(NotTranslated):
    """The function reads a field that a struct does not have, so it fails for every record."""


@dataclass(frozen=True)
class Term:
    """A Python value as Spark SQL.

    `none`: it may be None. `error`: NULL may also mean that Python raises this error; then `clean`
    raises it. `raises`: evaluating `clean` may raise an error. `low`, `high`: bounds of an integer.
    `wide`: an integer computed as DECIMAL(38, 0). `implied`: texts that are not NULL if this one is
    not. `after`: texts that are not NULL once it has been evaluated; `if_true`, `if_false`: those
    that are not NULL if it is true or false. `full`: a list without None. `constant`: its value, in
    a tuple, if it is a constant. `choice`: it is one of some constants, chosen by conditions.
    `built`: a struct or a list that the function makes.
    """

    sql: str
    type: DataType
    none: bool = False
    error: str | None = None
    guarded: str | None = None
    raises: bool = False
    binds: int = ATOM
    low: int = LONG_LOW
    high: int = LONG_HIGH
    wide: bool = False
    full: bool = False
    implied: Facts = NOTHING
    after: Facts = NOTHING
    if_true: Facts = NOTHING
    if_false: Facts = NOTHING
    constant: tuple[object, ...] = field(default=())
    choice: bool = False
    built: bool = False

    @property
    def kind(self) -> str:
        """What the value is in Python: int, float, str, bool, struct, list, map, time, none."""
        return _KINDS.get(self.type.name, "opaque")

    @property
    def clean(self) -> str:
        """The text whose NULL is None, and which raises an error where Python does."""
        if self.error is None:
            return self.sql
        return self.guarded or f"coalesce({self.sql}, {failure(self.error)})"

    @property
    def cleaned(self) -> Term:
        """The term whose text is `clean`."""
        if self.error is None:
            return self
        return replace(
            self, sql=self.clean, error=None, guarded=None, binds=ATOM, raises=True,
            implied=self.known,
        )  # fmt: skip

    def within(self, binds: int) -> str:
        """The text, in parentheses if it binds less than the operator around it."""
        return self.sql if self.binds >= binds else f"({self.sql})"

    @property
    def nullable(self) -> bool:
        """Whether the text can be NULL."""
        return self.none or self.error is not None

    @property
    def known(self) -> Facts:
        """The texts that are not NULL if this value is not None."""
        return self.implied | {self.sql} | self.after


def alike(a: Term, b: Term) -> bool:
    """Whether Spark may take two texts for the same, and evaluate neither of them."""
    return _words(a.sql) == _words(b.sql)


def _words(sql: str) -> list[str]:
    """The words of a text in any order, as Spark orders operands, without numbers of variables."""
    return sorted("x" if _VARIABLE.fullmatch(word) else word for word in _WORD.findall(sql))


def failure(message: str) -> str:
    """The call that raises an error."""
    return f"raise_error({text(message)})"


def text(value: str) -> str:
    """A text as a literal of Spark SQL."""
    made = []
    for char in value:
        if char in "\\'":
            made.append("\\" + char)
        elif char.isprintable() or ord(char) > 0xFFFF:
            made.append(char)
        else:
            made.append(f"\\u{ord(char):04x}")
    return f"'{''.join(made)}'"


def bounds_of(type_: DataType) -> tuple[int, int]:
    """The lowest and the highest value of an integer type."""
    bits = _BITS.get(type_.name, 63)
    return -(2**bits), 2**bits - 1


def column(sql: str, type_: DataType, *, none: bool) -> Term:
    """A column of the record."""
    low, high = bounds_of(type_)
    return Term(sql, type_, none=none, low=low, high=high)


def constant(value: object) -> Term:
    """A constant of the function. Raises NotTranslated for a value that SQL has no literal for."""
    if value is None:
        return Term("NULL", VOID, none=True, constant=(None,))
    if isinstance(value, bool):
        return Term("true" if value else "false", BOOLEAN, constant=(value,))
    if isinstance(value, int) and type(value) is int:
        if not LONG_LOW < value <= LONG_HIGH:
            raise NotTranslated(f"{value} is not a BIGINT")
        small = INT_LOW <= value <= INT_HIGH
        sql = str(value) if small else f"{value}L"
        return Term(
            sql, INT if small else BIGINT, binds=ATOM if value >= 0 else SIGN,
            low=value, high=value, constant=(value,),
        )  # fmt: skip
    if type(value) is float and math.isfinite(value):
        binds = ATOM if math.copysign(1, value) > 0 else SIGN
        return Term(f"{value!r}D", DOUBLE, binds=binds, constant=(value,))
    if type(value) is str:
        if any(0xD800 <= ord(char) < 0xE000 for char in value):
            raise NotTranslated("a text contains an unpaired surrogate")
        return Term(text(value), STRING, constant=(value,))
    if isinstance(value, CONTAINERS):
        return Term("", VOID, constant=(value,))
    raise NotTranslated(f"a {type(value).__name__} is not a constant of Spark SQL")


def long(term: Term) -> Term:
    """An integer as BIGINT."""
    if term.wide or term.type == BIGINT:
        return term
    if term.constant:
        return replace(term, sql=f"{term.sql}L", type=BIGINT)
    return replace(term, sql=f"bigint({term.sql})", type=BIGINT, binds=ATOM)


def field_of(base: Term, name: str, facts: Facts, where: str) -> Term:
    """A field of a struct; None has no fields."""
    type_ = base.type.field(name)
    if type_ is None:
        known = ", ".join(base.type.fields)
        raise NotTranslated(f"{where} has no field {name!r}; its fields: {known}")
    return part_of(base, f".{quote(name)}", type_, facts, where)


def part_of(
    base: Term, access: str, type_: DataType, facts: Facts, where: str, *, none: bool = True
) -> Term:
    """A part of a value, which Python raises an error for if the value is None."""
    sql = f"{base.within(ATOM)}{access}"
    low, high = bounds_of(type_)
    made = Term(
        sql, type_, none=none and sql not in facts, low=low, high=high, raises=base.raises,
        implied=base.implied | {base.sql}, after=base.known,
    )  # fmt: skip
    if not base.nullable:
        return made
    message = f"TypeError: {where} is None"
    whole = base.cleaned
    guarded = f"if({whole.sql} IS NULL, {failure(message)}, {whole.within(ATOM)}{access})"
    return replace(made, error=message, guarded=guarded if made.none else None, raises=True)


def _kept(terms: Iterable[Term], where: str) -> list[Term]:
    """The operands. Raises NotTranslated if Spark may omit an operand that can fail.

    Spark applies an operation to the constants of a choice, and omits the choice, with the
    failures of its conditions, if all results are equal.
    """
    found = list(terms)
    if found and all(term.constant for term in found):
        raise NotTranslated(f"{where} is of constants only")
    choices = all(term.constant or term.choice for term in found)
    if choices and any(term.choice and term.raises for term in found):
        raise NotTranslated(f"{where} may not depend on a part that can fail")
    return found


def strict(
    sql: str,
    type_: DataType,
    binds: int,
    terms: Iterable[Term],
    where: str,
    *,
    raises: bool = False,
) -> Term:
    """An operation that Python raises an error for if one of its operands is None.

    `sql` is NULL if an operand is, and only then.
    """
    terms = _kept(terms, where)
    fails = any(term.nullable for term in terms)
    after = frozenset().union(*(term.known for term in terms if not term.constant))
    low, high = bounds_of(type_)
    return Term(
        sql, type_, error=f"TypeError: None in {where}" if fails else None, binds=binds,
        raises=raises or fails or any(term.raises for term in terms), low=low, high=high,
        after=after,
    )  # fmt: skip


def total(sql: str, type_: DataType, binds: int, terms: Iterable[Term]) -> Term:
    """An operation on clean operands that is never NULL."""
    terms = _kept(terms, sql)
    low, high = bounds_of(type_)
    return Term(
        sql, type_, binds=binds, raises=any(term.raises for term in terms), low=low, high=high,
        after=frozenset().union(*(term.after for term in terms)),
    )  # fmt: skip
