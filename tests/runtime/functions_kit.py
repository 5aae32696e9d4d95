"""Random records and random functions, and what Spark makes of the functions' translations."""

from __future__ import annotations

import itertools
import json
import linecache
import random
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hypothesis import strategies as st
from millrace_compiler.types.types import BIGINT, STRING, parse_type
from millrace_runtime import columns
from millrace_runtime.functions.source import source_of
from millrace_runtime.functions.terms import NotTranslated
from millrace_runtime.functions.translate import CONDITION, Column, Translated, translated
from millrace_runtime.processor.values import Struct, encoder

SCHEMA = (
    "i INT, j INT, l BIGINT, h SMALLINT, d DOUBLE, e DOUBLE, s STRING, t STRING, b BOOLEAN, "
    "at TIMESTAMP, ns ARRAY<INT>, ts ARRAY<STRING>, m MAP<STRING, INT>, "
    "o STRUCT<n: INT, name: STRING>"
)
VALUE = parse_type(SCHEMA)
LIMIT, RATE, OPEN = 10, 0.5, ("open", "a", "")
PRICES, STATES = {"a": 1.5, "open": -0.0, "": 2.0}, {0: "none", 1: "one", 10: "ten", -1: "minus"}
COUNTS = {"a": 1, "A b": 2**40}
NAMES = {"LIMIT": LIMIT, "RATE": RATE, "OPEN": OPEN, "PRICES": PRICES, "STATES": STATES,
         "COUNTS": COUNTS}  # fmt: skip
_number = itertools.count()

_INTS = (0, 1, -1, 2, 3, 7, 10, 11, -10, 100, 2**31 - 1, -(2**31))
_LONGS = (*_INTS, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 10**15)
_DOUBLES = (
    0.0, -0.0, 0.5, 1.0, -1.5, 10.0, 0.1, 1e308, -1e308, 5e-324, 2.0**53,
    float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
_TEXTS = (
    "", " ", "a", "b", "open", "paid", "A b", "a,b", ",", "a,,b,", " \t a \n", "\u2003x\u00a0",
    "\x1fz\x85", "Straße", "ΑΣ ΟΔΟΣ", "İi", "ﬁn", "e\u0301", "😀a", "aa", "a.b", "0", "12", "None",
    "x" * 12, "ab ab", "\u200bq", "'", "\\", "\x00",
)  # fmt: skip


def function(text: str) -> Callable[..., Any]:
    """Compile the text of a lambda or a `def` named f, so that its source can be found."""
    name = f"<function {next(_number)}>"
    text = text if text.startswith("def ") else f"f = {text}"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = dict(NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # "a" is None
        exec(compile(text + "\n", name, "exec"), space)
    made: Callable[..., Any] = space["f"]
    return made


def translation(text: str, **options: Any) -> Translated:
    """Translate a function of the value, or of key and value."""
    source = source_of(function(text))
    known = {"key": Column("key", STRING), "value": Column("value", VALUE)}
    return translated(source, {name: known[name] for name in source.parameters}, **options)


def refusal(text: str, **options: Any) -> str:
    """Return why a function is not translated."""
    try:
        found = translation(text, **options)
    except NotTranslated as error:
        return str(error)
    raise AssertionError(f"{text} is translated: {found.sql}")


def records(seed: int, count: int) -> list[tuple[str | None, dict[str, Any] | None]]:
    """Return random keys and values, with many values at which Python and Spark differ."""
    chance = random.Random(seed)

    def maybe(make: Callable[[], Any], odds: float = 0.15) -> Any:
        return None if chance.random() < odds else make()

    def whole() -> int:
        return chance.choice(_INTS) if chance.random() < 0.6 else chance.randint(-200, 200)

    def word() -> str:
        return chance.choice(_TEXTS) + (chance.choice(_TEXTS) if chance.random() < 0.3 else "")

    def value() -> dict[str, Any]:
        return {
            "i": maybe(whole),
            "j": maybe(whole),
            "l": maybe(lambda: chance.choice(_LONGS)),
            "h": maybe(lambda: chance.choice((0, 1, -1, 32767, -32768, 12))),
            "d": maybe(lambda: chance.choice(_DOUBLES)),
            "e": maybe(lambda: chance.choice(_DOUBLES) if chance.random() < 0.7
                       else chance.uniform(-99, 99)),
            "s": maybe(word),
            "t": maybe(word),
            "b": maybe(lambda: chance.random() < 0.5),
            "at": maybe(lambda: chance.choice((0, -1, 1700000000123, 5))),
            "ns": maybe(lambda: [maybe(whole) for _ in range(chance.randrange(4))]),
            "ts": maybe(lambda: [maybe(word) for _ in range(chance.randrange(4))]),
            "m": maybe(lambda: {k: maybe(whole) for k in ("a", "b") if chance.random() < 0.6}),
            "o": maybe(lambda: {"n": maybe(whole), "name": maybe(word)}),
        }  # fmt: skip

    return [(maybe(word), maybe(value, 0.06)) for _ in range(count)]


def seen(value: dict[str, Any] | None) -> Any:
    """Return a value as a processor sees it."""
    if value is None:
        return None
    return Struct({k: Struct(v) if k == "o" and v is not None else v for k, v in value.items()})


@dataclass(frozen=True)
class Case:
    """A function with its translation. `truth`: only the truth of its result counts."""

    text: str
    run: Callable[..., Any]
    sql: Translated
    truth: bool

    @staticmethod
    def of(text: str, *, truth: bool = False, expects: str | None = None) -> Case | None:
        """Return the case of a function; None if it is not translated."""
        needed = CONDITION if truth else None if expects is None else parse_type(expects)
        try:
            made = translation(text, expects=needed)
        except NotTranslated:
            return None
        return Case(text, function(text), made, truth)

    def expected(self, key: Any, value: Any) -> str:
        """Return what Python makes of a record: its result as JSON, or "failed"."""
        known = {"key": key, "value": seen(value)}
        try:
            found = self.run(*(known[name] for name in source_of(self.run).parameters))
            if self.truth:
                found = bool(found)
            return _shown(self.sql, found)
        except Exception:  # noqa: BLE001 - whatever it is, the record fails
            return "failed"


def _shown(sql: Translated, value: Any) -> str:
    return json.dumps(encoder(_kind(sql.type), "it")(value), sort_keys=True)


def _kind(type_: Any) -> Any:
    """Return a type in the JSON form that a worker gets."""
    simple = {"INT": "integer", "BIGINT": "long", "SMALLINT": "short", "TINYINT": "byte"}
    if type_.name == "STRUCT":
        pairs = zip(type_.fields, type_.inner, strict=True)
        return {"type": "struct", "fields": [{"name": n, "type": _kind(t)} for n, t in pairs]}
    if type_.name == "ARRAY":
        return {"type": "array", "elementType": _kind(type_.inner[0])}
    if type_.name == "MAP":
        return {"type": "map", "keyType": _kind(type_.inner[0]), "valueType": _kind(type_.inner[1])}
    return simple.get(type_.name, type_.name.lower())


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if hasattr(value, "asDict"):
        return {key: _plain(each) for key, each in value.asDict().items()}
    return value


def frame(spark: Any, rows: Sequence[tuple[Any, Any]]) -> Any:
    """Return records as a cached DataFrame."""
    texts = [(number, key, None if value is None else json.dumps(value))
             for number, (key, value) in enumerate(rows)]  # fmt: skip
    # NaN and infinities are no JSON, so Python's are written as Spark reads them.
    made = spark.createDataFrame(texts, "number INT, key STRING, text STRING")
    schema = SCHEMA.replace("at TIMESTAMP", "at BIGINT")
    fields = ", ".join(
        f"'{name}', {'timestamp_millis(v.at)' if name == 'at' else f'v.{name}'}"
        for name in VALUE.fields
    )
    read = f"from_json(text, '{schema}', map('allowNonNumericNumbers', 'true'))"
    made = made.selectExpr("number", "key", f"{read} AS v")
    return made.selectExpr(
        "number", "key", f"if(v IS NULL, NULL, named_struct({fields})) AS value"
    ).cache()


def differences(spark: Any, cases: Sequence[Case], rows: Sequence[tuple[Any, Any]]) -> list[str]:
    """Return where the results of functions and of their translations differ."""
    from pyspark.sql import functions as F  # noqa: N812

    made = frame(spark, rows)
    # As a list of entries, a map keeps their order on its way to Python.
    texts = [f"map_entries({case.sql.sql})" if case.sql.type.name == "MAP" else case.sql.sql
             for case in cases]  # fmt: skip
    wanted = [columns.attempt(F.expr(text), "n", "p").alias(f"c{index}")
              for index, text in enumerate(texts)]  # fmt: skip
    found = []
    for row in made.select("number", *wanted).collect():
        key, value = rows[row["number"]]
        for index, case in enumerate(cases):
            got = row[f"c{index}"]
            value_ = _plain(got["value"])
            if case.sql.type.name == "MAP" and value_ is not None:
                value_ = {each["key"]: each["value"] for each in value_}
            spark_ = "failed" if got["fault"] else _shown(case.sql, value_)
            python = case.expected(key, value)
            if spark_ != python:
                found.append(
                    f"{case.text}\n  {case.sql.sql}\n  of {key!r}, {value!r}\n"
                    f"  Python: {python}, Spark: {spark_} {got['fault'] or ''}"
                )
    made.unpersist()
    return found


# ---- random functions ------------------------------------------------------------------------


def _fields(*names: str) -> st.SearchStrategy[str]:
    return st.sampled_from([f'value["{n}"]' for n in names] + [f"value.{n}" for n in names])


_INT_LEAF = st.one_of(
    _fields("i", "j", "l", "h", "at"),
    st.sampled_from(["0", "1", "2", "-3", "7", "LIMIT", "2147483648", "value.o.n", "value.i"]),
    st.sampled_from(
        [
            "value.m.get('a')",
            "value.m['a']",
            "value.ns[0]",
            "len(value.ns)",
            "value.m.get(value.s)",
            "value.m.get(value.t, 0)",
            "COUNTS.get(value.s, 0)",
            "COUNTS[value.t]",
            "len(value.ns[-2:])",
        ]
    ),
)
_FLOAT_LEAF = st.one_of(
    _fields("d", "e"),
    st.sampled_from(["0.5", "RATE", "-1.0", "0.0", "PRICES[value.s]", "PRICES.get(value.t, 0.5)"]),
)
_TEXT_LEAF = st.one_of(
    _fields("s", "t"),
    st.sampled_from(
        [
            "key",
            "'a'",
            "''",
            "', '",
            "value.o.name",
            "value['o']['name']",
            "STATES[value.i]",
            "STATES.get(value.l, 'other')",
        ]
    ),
)
_BOOL_LEAF = st.one_of(_fields("b"), st.sampled_from(["True", "False", "value.b is None"]))


def expressions(depth: int) -> dict[str, st.SearchStrategy[str]]:
    """Return strategies for the text of expressions, by the kind of their value."""
    if depth == 0:
        return {"int": _INT_LEAF, "float": _FLOAT_LEAF, "str": _TEXT_LEAF, "bool": _BOOL_LEAF}
    low = expressions(depth - 1)
    i, f, s, b = low["int"], low["float"], low["str"], low["bool"]
    some = st.one_of(i, f, s, b)
    plain = _fields("i", "j", "l", "h", "s", "t", "b", "at")  # no quotes, which end an f-string

    def make(form: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.tuples(*parts).map(lambda found: form.format(*found))

    def any_of(forms: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.sampled_from(forms.split(" | ")).flatmap(lambda form: make(form, *parts))

    compared = any_of("{} < {} | {} <= {} | {} > {} | {} >= {} | {} == {} | {} != {}",
                      st.one_of(i, f), st.one_of(i, f))  # fmt: skip
    return {
        "int": st.one_of(
            i,
            any_of("({} + {}) | ({} - {}) | ({} * {}) | max({}, {}) | min({}, {})", i, i),
            any_of("({} // 3) | ({} % 7) | -{} | abs({}) | ({} % (60 * 60))", i),
            any_of("len({}) | {}.find('a')", s),
            make("({} if {} else {})", i, b, i),
            make("({} or {})", i, i),
            st.just("sum(n for n in value.ns if n is not None)"),
            st.just("sum(1 for t in value.ts if t)"),
        ),
        "float": st.one_of(
            f,
            any_of("({} + {}) | ({} - {}) | ({} * {}) | ({} / {})", f, st.one_of(i, f)),
            any_of("({} / {})", i, i),
            any_of("float({})", i),
            any_of("abs({}) | -{}", f),
            any_of("max({}, {}) | min({}, {})", f, f),
            make("({} if {} else {})", f, b, f),
        ),
        "str": st.one_of(
            s,
            any_of("{}.upper() | {}.lower() | {}.strip() | {}.lstrip() | {}.rstrip() | "
                   "{}.strip(', a') | {}[:3] | {}[2:] | {}[1:3] | {}[-2:] | {}[0] | {}[-1] | "
                   "{}.removeprefix('a') | str({}) | ','.join({}.split()) | {}.split(',')[0] | "
                   "'-'.join([w.upper() for w in {}.split(' ') if w])", s),
            any_of("({} + {}) | {}.replace('a', {}) | ({} or {})", s, s),
            any_of("max({}, {}) | min({}, {})", s, s),
            any_of("str({})", st.one_of(i, s, b)),
            any_of("f'{{{}}}' | f'n={{{}}}!'", plain),
            make("({} if {} else {})", s, b, s),
            make("f'{{{}}}-{{{}}}'", plain, plain),
        ),
        "bool": st.one_of(
            b,
            compared.map(lambda text: f"({text})"),
            any_of("({} == {}) | ({} != {}) | ({} < {}) | ({} >= {}) | ({} in {}) | "
                   "{}.startswith({}) | {}.endswith({})", s, s),
            any_of("({} and {}) | ({} or {})", b, b),
            any_of("(not {}) | bool({})", some),
            any_of("({} is None) | ({} is not None) | ({} == None)", some),
            any_of("({} in OPEN) | ({} not in ('a', 'b', None)) | ({} in {{'x', ''}})", s),
            any_of("({} in (1, 2, LIMIT)) | ({} not in [0, -1]) | (0 < {} <= LIMIT)", i),
            any_of("({} in PRICES) | ({} not in COUNTS) | ({} in value.ts) | ({} in value.m)", s),
            st.sampled_from([
                "('a' in value.m)", "any(t == 'a' for t in value.ts)",
                "all(n > 0 for n in value.ns if n)", "any(value.ts and t for t in value.ts)",
            ]),
        ),
    }  # fmt: skip


def functions(depth: int = 3) -> st.SearchStrategy[str]:
    """Return a strategy for the text of functions."""
    kinds = expressions(depth)
    value = st.one_of(*kinds.values())
    head = "lambda key, value: "
    small = expressions(1)

    def block(parts: tuple[str, str, str, str]) -> str:
        first, test, a, b = parts
        return (
            f"def f(key, value):\n    x = {first}\n    if x is None or {test}:\n"
            f"        return {a}\n    return {b}\n"
        )

    def guarded(text: str) -> str:
        return f"{head}None if value is None else {text}"

    same = st.sampled_from(list(small)).flatmap(
        lambda kind: st.tuples(value, small["bool"], small[kind], small[kind])
    )
    structs = st.tuples(value, small["int"], small["str"]).map(
        lambda p: f'{head}{{"a": {p[0]}, "b": {p[1]}, "c": {p[2]}}}'
    )
    spread = value.map(lambda text: f'{head}{{**value, "i": {text}}}')
    lists = st.sampled_from(
        ["[t.upper() for t in value.ts]", "[n + 1 for n in value.ns if n]",
         "[t for t in value.s.split(',') if t]", "value.s.split() if value.b else []",
         "[value.i, value.j]", "[{'w': w, 'n': len(w)} for w in value.t.split()]",
         "value.ns + [value.i]", "([value.j] + value.ns)[-2:]", "value.ts[1:] + value.s.split()",
         "(value.ts + [value.s])[:-1]", "value.ns[:2] + value.ns[2:]", "value.ts[1:3]"]
    ).map(lambda text: f"{head}{text}")  # fmt: skip
    return st.one_of(
        value.map(lambda text: head + text),
        value.map(guarded),
        same.map(block),
        structs,
        spread,
        lists,
    )


__all__ = ["BIGINT", "Case", "differences", "functions", "records", "refusal", "translation"]


def characters(spark: Any) -> set[str]:
    """Return the characters whose case, alone and in words, Spark changes in another way.

    Characters that this Python does not know are left out: Unicode has added them later.
    """
    known = [
        chr(c) for c in range(32, 0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs")
    ]
    texts = ["\n".join(known[at : at + 500]) for at in range(0, len(known), 500)]
    for form in ("a{}Σ", "aΣ{}", "{}Σa"):
        texts += [
            "\n".join(form.format(c) for c in known[at : at + 500])
            for at in range(0, len(known), 500)
        ]
    made = spark.createDataFrame([(text,) for text in texts], "t STRING")
    found: set[str] = set()
    for row in made.selectExpr("t", "upper(t) AS u", "lower(t) AS l").collect():
        parts = (row["t"].split("\n"), row["u"].split("\n"), row["l"].split("\n"))
        for text, upper, lower in zip(*parts, strict=True):
            if (upper, lower) != (text.upper(), text.lower()):
                found |= set(text) - set("aΣ")
    return found
