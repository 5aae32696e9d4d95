"""Translates a Python function to a Spark SQL expression with the same results and failures.

A form of Python that is not in the lists here is not translated ([ADR 28]); the function then runs
in Python. What a name means is decided by the object that it refers to.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from millrace_compiler.types.types import (
    BOOLEAN,
    STRING,
    VOID,
    DataType,
    array,
    struct,
)

from millrace_runtime.functions import calls, compare, lookups, numbers, statements, texts
from millrace_runtime.functions.containers import Containers
from millrace_runtime.functions.fitting import fitted, of_parts, same
from millrace_runtime.functions.function_calls import FunctionCalls
from millrace_runtime.functions.logic import conjunction, disjunction, negated, truth
from millrace_runtime.functions.scope import Scope, unknown, where_of
from millrace_runtime.functions.source import NoSource, Source, plain_function
from millrace_runtime.functions.terms import (
    ATOM,
    NOTHING,
    Facts,
    NotTranslated,
    Term,
    UnknownField,
    alike,
    column,
    constant,
    failure,
    field_of,
    long,
    part_of,
    strict,
)

#: stands for the type of a condition: any value, of which only the truth counts
CONDITION = DataType("CONDITION")
#: the longest expression that is translated
LONGEST = 4_000


@dataclass(frozen=True)
class Column:
    """A column that a parameter of a function stands for. `none`: it may be None."""

    name: str
    type: DataType | None
    none: bool = True


@dataclass(frozen=True)
class Translated:
    """The text of an expression, and its type."""

    sql: str
    type: DataType


def translated(
    source: Source,
    columns: Mapping[str, Column],
    *,
    expects: DataType | None = None,
    element: int | None = None,
    pairs: bool = False,
) -> Translated:
    """Translate a function, whose parameters are columns. Raises NotTranslated.

    `expects`: the type that the expression must have. `element`: the function returns tuples, and
    this element is translated. `pairs`: it returns lists of tuples, which are structs of key and
    value.
    """
    first = _Translation(source, columns, element, pairs).text(expects, NOTHING)
    best = first
    for name in sorted(first.needs):
        guarded = _Translation(source, columns, element, pairs).text(expects, frozenset({name}))
        message = failure(f"TypeError: {name} is None")
        sql = f"if({name} IS NULL, {message}, {guarded.sql})"
        if sql.count("raise_error") < best.sql.count("raise_error") or len(sql) < len(best.sql):
            best = replace(guarded, sql=sql)
    if len(best.sql) > LONGEST:
        raise NotTranslated(f"its expression has more than {LONGEST:,} characters")
    return Translated(best.sql, best.type)


@dataclass(frozen=True)
class _Text(Translated):
    needs: Facts = field(default=NOTHING)


class _Translation(Containers, FunctionCalls):
    def __init__(
        self, source: Source, columns: Mapping[str, Column], element: int | None, pairs: bool
    ) -> None:
        self.source, self.columns = source, columns
        self.element, self.pairs = element, pairs
        #: Locals whose evaluation may fail, until they are used: term, name and level.
        self.unused: list[tuple[Term, str, int]] = []

    def text(self, expects: DataType | None, facts: Facts) -> _Text:
        """The text, given columns that are not null."""
        try:
            plain_function(self.source)
        except NoSource as error:
            raise NotTranslated(str(error)) from None
        names: dict[str, Term] = {}
        for parameter, at in self.columns.items():
            if at.type is None:
                names[parameter] = Term("", VOID, constant=(self,))
                continue
            names[parameter] = column(at.name, at.type, none=at.none and at.name not in facts)
        for parameter, value in self.source.defaults.items():
            if parameter not in names:
                names[parameter] = constant(value)
        scope = Scope(self.source, names, facts)
        made = self.function(scope, expects)
        made = truth(made) if expects is CONDITION else fitted(made, expects)
        if self.unused:
            raise NotTranslated(f"{self.unused[0][1]} is not used in all cases")
        if "VOID" in made.type.text:
            raise NotTranslated("it returns only None, or only an empty list")
        own = {at.name for at in self.columns.values() if at.type is not None and at.none}
        return _Text(made.clean, made.type, made.after & own - facts)

    # ---- statements ------------------------------------------------------------------------------

    def function(self, scope: Scope, expects: DataType | None, *, final: bool = True) -> Term:
        node = scope.source.node
        if isinstance(node, ast.Lambda):
            return self._result(node.body, scope, expects, final)
        if node.decorator_list:
            raise NotTranslated("it is decorated")
        return self._block(node.body, scope, expects, final)

    def _block(
        self, body: Sequence[ast.stmt], scope: Scope, expects: DataType | None, final: bool
    ) -> Term:
        if not body:
            return constant(None)
        changed = statements.changed(body)
        if changed is not None:
            body = changed
        item, rest = body[0], body[1:]
        match item:
            case ast.Return(value=value):
                return self._result(value or ast.Constant(None), scope, expects, final)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return self._block(rest, scope, expects, final)
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                return self._block(rest, self._assigned(name, value, scope), expects, final)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                sum_ = ast.copy_location(ast.BinOp(ast.Name(name, ast.Load()), op, value), item)
                return self._block(rest, self._assigned(name, sum_, scope), expects, final)
            case ast.If(test=test, body=then, orelse=other):
                asked, yes, no = self._cases(test, scope)
                return self._choice(
                    asked,
                    self._block([*then, *rest], yes, expects, final),
                    self._block([*other, *rest], no, expects, final),
                    final,
                    expects,
                )
        raise unknown(item)

    def _assigned(self, name: str, value: ast.expr, scope: Scope) -> Scope:
        term = self.expression(value, scope)
        if term.raises:
            self.unused.append((term, name, scope.level))
        return scope.naming(name, term)

    def _result(self, node: ast.expr, scope: Scope, expects: DataType | None, final: bool) -> Term:
        """What the function returns. `final`: it is the result, not a part of an expression."""
        if not final:
            return self.expression(node, scope)
        match node:
            case ast.Tuple(elts=elements) if self.element is not None:
                if len(elements) != 2:
                    raise NotTranslated("it must return a tuple of key and value")
                made = [self.final(each, scope, None) for each in elements]
                chosen = made[self.element]
                return replace(chosen, after=chosen.after | made[1 - self.element].after)
            case ast.IfExp(test=test, body=body, orelse=other):
                asked, yes, no = self._cases(test, scope)
                return self._choice(
                    asked,
                    self._result(body, yes, expects, True),
                    self._result(other, no, expects, True),
                    True,
                    expects,
                )
        if self.element is not None:
            raise NotTranslated("it must return a tuple of key and value")
        if expects is CONDITION:
            return truth(self.expression(node, scope))
        return self.final(node, scope, expects)

    def final(self, node: ast.expr, scope: Scope, expects: DataType | None) -> Term:
        """A value that is part of the result as it is: its type may limit it."""
        match node:
            case ast.Dict():
                return self.dict_(node, scope, expects)
            case ast.List(elts=elements) if elements:
                return self.list_(node, elements, scope, expects)
            case ast.List():
                return Term("array()", array(VOID), full=True)
            case ast.Tuple(elts=[key, value]) if self.pairs:
                parts = [self.final(key, scope, None), self.final(value, scope, None)]
                parts = [fitted(each, None).cleaned for each in parts]
                type_ = struct(key=parts[0].type, value=parts[1].type)
                sql = f"named_struct('key', {parts[0].sql}, 'value', {parts[1].sql})"
                return of_parts(sql, type_, parts)
            case ast.IfExp():
                return self._result_in(node, scope, expects)
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() as op, left=left, right=right):
                operands = (self.expression(left, scope), self.expression(right, scope))
                if all(each.kind == "int" for each in operands):
                    return numbers.last(op, *operands, expects, where_of(node))
            case ast.ListComp():
                return self.comprehension(node, scope, expects)
        return self.expression(node, scope)

    def _result_in(self, node: ast.IfExp, scope: Scope, expects: DataType | None) -> Term:
        asked, yes, no = self._cases(node.test, scope)
        return self._choice(
            asked,
            self.final(node.body, yes, expects),
            self.final(node.orelse, no, expects),
            True,
            expects,
        )

    def _cases(self, test: ast.expr, scope: Scope) -> tuple[Term, Scope, Scope]:
        """A condition, and the scopes in which it is true and false."""
        asked = truth(self.expression(test, scope))
        return (
            asked,
            scope.only_if(asked.after | asked.if_true),
            scope.only_if(asked.after | asked.if_false),
        )

    def _choice(
        self, test: Term, yes: Term, no: Term, final: bool, expects: DataType | None = None
    ) -> Term:
        """`yes if test else no`, for a test that is true or false."""
        if test.constant:
            return yes if test.constant[0] else no
        if expects is CONDITION:
            yes, no = truth(yes), truth(no)
        yes, no = yes.cleaned, no.cleaned
        if final and yes.kind == no.kind == "int" and yes.constant and no.constant:
            yes, no = long(yes), long(no)
        yes, no = same(yes, no, final=final)
        if test.raises and alike(yes, no):
            raise NotTranslated("a result does not depend on a condition that can fail")
        if yes.sql == no.sql:
            return replace(yes, none=yes.none or no.none)
        after = test.after | ((yes.after | test.if_true) & (no.after | test.if_false))
        return Term(
            f"if({test.sql}, {yes.sql}, {no.sql})",
            yes.type,
            none=yes.none or no.none,
            raises=test.raises or yes.raises or no.raises,
            low=min(yes.low, no.low),
            high=max(yes.high, no.high),
            wide=yes.wide,
            full=yes.full and no.full,
            after=after,
            choice=all(each.constant or each.choice for each in (yes, no)),
            built=yes.built or no.built,
        )

    # ---- expressions -----------------------------------------------------------------------------

    def expression(self, node: ast.expr, scope: Scope) -> Term:
        """The term of an expression. Raises NotTranslated."""
        match node:
            case ast.Constant(value=value):
                return constant(value)
            case ast.Name(id=name):
                return self._name(name, scope)
            case ast.Attribute(value=of, attr=name):
                return self._attribute(of, name, scope)
            case ast.Subscript():
                return self._subscript(node, scope)
            case ast.BoolOp() | ast.UnaryOp() | ast.BinOp() | ast.Compare() | ast.IfExp():
                return self._operator(node, scope)
            case ast.JoinedStr(values=parts):
                return self._format(parts, scope)
            case ast.List(elts=elements) if elements:
                return self.constant_list(node, scope) or self.list_(node, elements, scope, None)
            case ast.Tuple() | ast.Set():
                found = self.constant_list(node, scope)
                if found is not None:
                    return found
            case ast.Dict():
                return self.dict_(node, scope, None)
            case ast.ListComp():
                return self.comprehension(node, scope, None)
            case ast.Call():
                return self.call(node, scope)
        raise unknown(node)

    def _operator(self, node: ast.expr, scope: Scope) -> Term:
        match node:
            case ast.BoolOp():
                return self._logic(node, scope)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return negated(truth(self.expression(operand, scope)))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return numbers.negative(self.expression(operand, scope), where_of(node))
            case ast.BinOp(left=left, op=op, right=right):
                where = where_of(node)
                if isinstance(op, ast.Add) and ast.List in (type(left), type(right)):
                    return lookups.list_sum(*self.lists(left, right, scope), where)
                a, b = self.expression(left, scope), self.expression(right, scope)
                if isinstance(op, ast.Add) and a.kind == b.kind == "str":
                    return strict(f"concat({a.sql}, {b.sql})", STRING, ATOM, (a, b), where)
                if isinstance(op, ast.Add) and a.kind == b.kind == "list":
                    return lookups.list_sum(a, b, where)
                return numbers.binary(op, a, b, where)
            case ast.Compare():
                return self._comparison(node, scope)
            case ast.IfExp(test=test, body=body, orelse=other):
                asked, yes, no = self._cases(test, scope)
                return self._choice(
                    asked, self.expression(body, yes), self.expression(other, no), False
                )
        raise unknown(node)

    def _name(self, name: str, scope: Scope) -> Term:
        term = scope.names.get(name)
        if term is None:
            if name in _locals(scope.source.node):
                raise NotTranslated(f"{name} is not assigned in all cases")
            try:
                return constant(scope.source.resolve(name))
            except LookupError:
                raise NotTranslated(f"{name} is not defined before the function is used") from None
        if term.constant and term.constant[0] is self:
            raise NotTranslated(f"the type of {name} is not known here")
        self.unused = [x for x in self.unused if x[0] is not term or scope.level > x[2]]
        if term.none and term.sql in scope.facts and term.error is None:
            return replace(term, none=False)
        return term

    def _attribute(self, of: ast.expr, name: str, scope: Scope) -> Term:
        base = _whole_value(self.expression(of, scope))
        if base.kind != "struct" or hasattr(dict, name):
            raise NotTranslated(f".{name} is not a field")
        return self._field(base, name, scope, where_of(of))

    def _field(self, base: Term, name: str, scope: Scope, where: str) -> Term:
        if base.type.field(name) is None and scope.level == 0:
            near = difflib.get_close_matches(name, base.type.fields, 1)
            hint = f". Did you mean {near[0]}?" if near else "."
            known = ", ".join(base.type.fields)
            raise UnknownField(f"{where} has no field {name!r}{hint} Its fields: {known}")
        return field_of(base, name, scope.facts, where)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Term:
        base = self.expression(node.value, scope)
        where = where_of(node.value)
        match node.slice:
            case ast.Slice(lower=lower, upper=upper, step=None) if base.kind in ("str", "list"):
                ends = [
                    None if x is None else _whole(self.expression(x, scope)) for x in (lower, upper)
                ]
                cut = texts.sliced if base.kind == "str" else lookups.list_slice
                return cut(base, ends[0], ends[1], where)
        base, index = _whole_value(base), self.expression(node.slice, scope)
        table = lookups.table_of(base)
        if table is not None:
            return lookups.looked_up(table, index, where_of(node))
        value = index.constant[0] if index.constant else None
        if base.kind == "struct" and isinstance(value, str):
            return self._field(base, value, scope, where)
        if base.kind == "map" and isinstance(value, str) and base.type.inner[0] == STRING:
            item = calls.entry(base, index, where)
            found = strict(
                f"map_contains_key({base.sql}, {index.sql})", BOOLEAN, ATOM, (base,), where
            )
            error = failure(f"KeyError: {value!r}".replace("'", '"'))
            sql = f"if({found.clean}, {item.sql}, {error})"
            return replace(item, sql=sql, error=None, guarded=None, raises=True, binds=ATOM)
        if base.kind == "list" and base.type.inner[0] != VOID and type(value) is int:
            if value < 0:
                made = part_of(base, "", base.type.inner[0], scope.facts, where)
                made = replace(made, sql=f"element_at({base.sql}, {value})")
                if made.guarded is not None or base.nullable:
                    raise NotTranslated("a list that may be None has a negative index")
                return replace(made, none=not base.full, raises=True)
            made = part_of(
                base, f"[{value}]", base.type.inner[0], scope.facts, where, none=not base.full
            )
            return replace(made, raises=True)
        if base.kind == "str" and type(value) is int:
            return texts.char(base, value, where)
        raise unknown(node)

    def _logic(self, node: ast.BoolOp, scope: Scope) -> Term:
        both = isinstance(node.op, ast.And)
        made = self.expression(node.values[0], scope)
        for each in node.values[1:]:
            asked = truth(made)
            facts = asked.after | (asked.if_true if both else asked.if_false)
            other = self.expression(each, scope.only_if(facts))
            made = self._both(made, other) if both else self._either(made, other)
        return made

    def _both(self, a: Term, b: Term) -> Term:
        if a.kind == "bool" and b.kind == "bool" and not (a.none or b.none):
            return conjunction(truth(a), truth(b))
        if _condition(a) and _condition(b):
            return conjunction(truth(a), truth(b))
        made = self._choice(truth(a), b, a, False)
        return replace(made, none=a.none or b.none)

    def _either(self, a: Term, b: Term) -> Term:
        if a.kind == "bool" and b.kind == "bool" and not (a.none or b.none):
            return disjunction(truth(a), truth(b))
        made = self._choice(truth(a), replace(a.cleaned, none=False), b, False)
        return replace(made, none=b.none)

    def _comparison(self, node: ast.Compare, scope: Scope) -> Term:
        made: Term | None = None
        left, here = node.left, scope
        for op, right in zip(node.ops, node.comparators, strict=True):
            a = self.expression(left, here)
            b = self.expression(right, here)
            one = compare.compared(op, a, b, where_of(node))
            made = one if made is None else conjunction(truth(made), truth(one))
            left, here = right, here.only_if(one.after | one.if_true)
        return constant(True) if made is None else made

    def _format(self, parts: Sequence[ast.expr], scope: Scope) -> Term:
        made: list[Term] = []
        for part in parts:
            match part:
                case ast.Constant(value=str()):
                    made.append(constant(part.value))
                case ast.FormattedValue(value=value, conversion=-1 | 115, format_spec=None):
                    made.append(texts.shown(self.expression(value, scope)))
                case _:
                    raise NotTranslated("a part of an f-string has a format")
        if not made:
            return constant("")
        if len(made) == 1:
            return made[0]
        return of_parts(
            f"concat({', '.join(each.sql for each in made)})", STRING, made, built=False
        )


def _locals(node: ast.Lambda | ast.FunctionDef) -> set[str]:
    """The names that a function assigns."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    return {
        each.id
        for item in body
        for each in ast.walk(item)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def _whole_value(term: Term) -> Term:
    """A value of which a part is taken. Spark omits the others, and with them their failures."""
    if term.built and term.raises:
        raise NotTranslated("a part of a value is taken whose other parts may fail")
    return term


def _whole(term: Term) -> int:
    value = term.constant[0] if term.constant else None
    if type(value) is not int:
        raise NotTranslated("an index is not a constant")
    return value


def _condition(term: Term) -> bool:
    return term.kind == "bool" and not term.none
