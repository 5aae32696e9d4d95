"""Operations on texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from millrace_compiler.types.types import BOOLEAN, INT, STRING, array

from millrace_runtime.functions.numbers import number, required
from millrace_runtime.functions.terms import (
    ATOM,
    NotTranslated,
    Term,
    failure,
    strict,
    text,
    total,
)

#: the characters for which str.isspace is true, as they are since Unicode 6.3
SPACE = "".join(chr(code) for code in (
    *range(9, 14), *range(28, 33), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029,
    0x202F, 0x205F, 0x3000,
))  # fmt: skip
_SPACES = "\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
#: characters with a meaning in regular expressions
_SPECIAL = set(r"\.[]{}()<>*+-=!?^$|/&#~ ")


def shown(term: Term) -> Term:
    """`str(x)`, and a part of an f-string."""
    value = number(term).cleaned
    if value.constant and type(value.constant[0]) in (int, str, bool, type(None)):
        return Term(text(str(value.constant[0])), STRING, constant=(str(value.constant[0]),))
    if value.kind == "str":
        sql = value.sql
    elif value.kind == "int":
        sql = f"string({value.sql})"
    elif value.kind == "bool":
        sql = f"if({value.sql}, 'True', 'False')"
        if value.none:
            sql = f"if({value.sql} IS NULL, 'None', {sql})"
            return replace(total(sql, STRING, ATOM, (value,)), choice=True)
    else:
        raise NotTranslated(f"a {term.type.text} as text")
    if value.none:
        sql = f"coalesce({sql}, 'None')"
        return total(sql, STRING, ATOM, (value,))
    made = total(sql, STRING, ATOM if value.kind != "str" else value.binds, (value,))
    return replace(made, choice=value.kind == "bool")


def length(term: Term, where: str) -> Term:
    """`len(x)`."""
    function = {"str": "char_length", "list": "size", "map": "size"}.get(term.kind)
    unknown = function is None or (term.constant and term.kind != "str")
    if unknown or (term.built and term.raises):
        raise NotTranslated(f"the length of a {term.type.text}")
    made = strict(f"{function}({term.sql})", INT, ATOM, (term,), where)
    return replace(made, low=0)


def char(base: Term, index: int, where: str) -> Term:
    """`text[0]`, which fails beyond the end."""
    value = required(base, where)
    needed = index if index >= 0 else -index - 1
    start = index + 1 if index >= 0 else index
    error = failure("IndexError: string index out of range")
    sql = f"if(char_length({value.sql}) > {needed}, substring({value.sql}, {start}, 1), {error})"
    return replace(total(sql, STRING, ATOM, (value,)), raises=True)


def sliced(base: Term, lower: int | None, upper: int | None, where: str) -> Term:
    """`text[a:b]` for constants that are not negative, and `text[-n:]`."""
    if lower is not None and lower < 0:
        if upper is not None:
            raise NotTranslated(f"{where} has a slice that is not translated")
        return strict(f"right({base.sql}, {-lower})", STRING, ATOM, (base,), where)
    start = lower or 0
    if upper is not None and upper < 0:
        raise NotTranslated(f"{where} has a slice that is not translated")
    if upper is None:
        sql = f"substring({base.sql}, {start + 1})"
    else:
        sql = f"substring({base.sql}, {start + 1}, {max(upper - start, 0)})"
    return strict(sql, STRING, ATOM, (base,), where)


def method(base: Term, name: str, args: Sequence[Term], where: str) -> Term:
    """A method of str."""
    found = _METHODS.get((name, len(args)))
    if found is None:
        raise NotTranslated(f".{name} of a text is not translated")
    return found(base, *args, where)


def _trimmed(side: str) -> Callable[..., Term]:
    def make(base: Term, *rest: object) -> Term:
        where = str(rest[-1])
        chars = SPACE if len(rest) == 1 else _constant(rest[0], where)
        if not chars:
            raise NotTranslated(f"{where} strips nothing")
        sql = f"trim({side} {text(chars)} FROM {base.sql})"
        return strict(sql, STRING, ATOM, (base,), where)

    return make


def _constant(term: object, where: str) -> str:
    value = term.constant[0] if isinstance(term, Term) and term.constant else None
    if not isinstance(value, str):
        raise NotTranslated(f"{where} has an argument that is not a constant text")
    return value


def _cased(function: str) -> Callable[[Term, str], Term]:
    def make(base: Term, where: str) -> Term:
        if base.sql.startswith(("upper(", "lower(")):
            raise NotTranslated(f"{where} changes the case twice, which Spark does once")
        return strict(f"{function}({base.sql})", STRING, ATOM, (base,), where)

    return make


def _tested(function: str) -> Callable[[Term, Term, str], Term]:
    def make(base: Term, other: Term, where: str) -> Term:
        if other.kind != "str":
            raise NotTranslated(f"{where} has an argument that is not a text")
        return strict(f"{function}({base.sql}, {other.sql})", BOOLEAN, ATOM, (base, other), where)

    return make


def _replaced(base: Term, old: Term, new: Term, where: str) -> Term:
    if not _constant(old, where) or new.kind != "str":
        raise NotTranslated(f"{where} does not replace a constant text")
    return strict(
        f"replace({base.sql}, {old.sql}, {new.sql})", STRING, ATOM, (base, old, new), where
    )


def _split(base: Term, *rest: object) -> Term:
    where = str(rest[-1])
    if len(rest) == 1:
        pattern = f"[{_SPACES}]+"
        sql = f"filter(split({base.sql}, {text(pattern)}), x0 -> x0 <> '')"
    else:
        separator = _constant(rest[0], where)
        if not separator:
            raise NotTranslated(f"{where} splits by an empty text")
        quoted = "".join(f"[{c}]" if c in _SPECIAL - set("\\^ ") else f"\\{c}" if c in "\\^" else c
                         for c in separator)  # fmt: skip
        sql = f"split({base.sql}, {text(quoted)})"
    return replace(strict(sql, array(STRING), ATOM, (base,), where), full=True)


def _found(base: Term, other: Term, where: str) -> Term:
    needle = _constant(other, where)
    made = strict(f"locate({text(needle)}, {base.sql}) - 1", INT, 6, (base,), where)
    return replace(made, low=-1)


def _without_prefix(base: Term, other: Term, where: str) -> Term:
    prefix = _constant(other, where)
    value = required(base, where)
    sql = (
        f"if(startswith({value.sql}, {text(prefix)}), "
        f"substring({value.sql}, {len(prefix) + 1}), {value.sql})"
    )
    return total(sql, STRING, ATOM, (value,))


_METHODS: dict[tuple[str, int], Callable[..., Term]] = {
    ("upper", 0): _cased("upper"),
    ("lower", 0): _cased("lower"),
    ("strip", 0): _trimmed("BOTH"),
    ("strip", 1): _trimmed("BOTH"),
    ("lstrip", 0): _trimmed("LEADING"),
    ("lstrip", 1): _trimmed("LEADING"),
    ("rstrip", 0): _trimmed("TRAILING"),
    ("rstrip", 1): _trimmed("TRAILING"),
    ("startswith", 1): _tested("startswith"),
    ("endswith", 1): _tested("endswith"),
    ("replace", 2): _replaced,
    ("split", 0): _split,
    ("split", 1): _split,
    ("find", 1): _found,
    ("removeprefix", 1): _without_prefix,
}


def joined(base: Term, items: Term, where: str) -> Term:
    """`", ".join(items)`, for a list without None."""
    separator = _constant(base, where)
    if items.kind != "list" or items.type.inner[0] != STRING or not items.full or items.constant:
        raise NotTranslated(f"{where} joins values that may not be texts")
    return strict(f"array_join({items.sql}, {text(separator)})", STRING, ATOM, (items,), where)
