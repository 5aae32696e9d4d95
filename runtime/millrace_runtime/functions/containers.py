"""Lists, dicts, tuples and comprehensions that a function makes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from millrace_compiler.types.types import VOID, DataType, array, struct

from millrace_runtime.functions.fitting import fitted, of_parts, same
from millrace_runtime.functions.logic import conjunction, truth
from millrace_runtime.functions.lookups import map_with, new_map
from millrace_runtime.functions.scope import Scope, unknown, where_of
from millrace_runtime.functions.terms import (
    ATOM,
    NOTHING,
    NotTranslated,
    Term,
    column,
    constant,
    failure,
    field_of,
    strict,
)


class Containers:
    """The part of a translation that makes structs and lists."""

    variables = 0

    def expression(self, node: ast.expr, scope: Scope) -> Term:
        """The term of an expression."""
        raise NotImplementedError

    def final(self, node: ast.expr, scope: Scope, expects: DataType | None) -> Term:
        """A value that is part of the result as it is: its type may limit it."""
        raise NotImplementedError

    def constant_list(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Term | None:
        """A list whose elements are all constants, for `in`."""
        found = []
        for each in node.elts:
            if not isinstance(each, ast.Constant | ast.Name | ast.UnaryOp):
                return None
            if isinstance(each, ast.Name) and each.id in scope.names:
                return None
            term = self.expression(each, scope)
            if not term.constant:
                return None
            found.append(term.constant[0])
        if isinstance(node, ast.List):
            made = self.list_(node, node.elts, scope, None)
            return replace(made, constant=(found,))
        return constant(tuple(found))

    def list_(
        self, node: ast.expr, elements: Sequence[ast.expr], scope: Scope, expects: DataType | None
    ) -> Term:
        inner = expects.inner[0] if expects is not None and expects.name == "ARRAY" else None
        made = [fitted(self.final(each, scope, inner), inner).cleaned for each in elements]
        first = made[0]
        for index, other in enumerate(made[1:], 1):
            first, made[index] = same(first, other, final=True)
        made = [same(each, first, final=True)[0] for each in made]
        if first.kind == "none":
            raise NotTranslated("a list of None has no type")
        sql = f"array({', '.join(each.sql for each in made)})"
        full = not any(each.none for each in made)
        return of_parts(sql, array(first.type), made, full=full)

    def lists(self, left: ast.expr, right: ast.expr, scope: Scope) -> tuple[Term, Term]:
        """Two lists; one that is written in the sum gets the type of the other."""
        nodes = [left, right]
        made = [None if isinstance(each, ast.List) else self.expression(each, scope)
                for each in nodes]  # fmt: skip
        known = next((each.type for each in made if each is not None), None)
        found = [
            self.list_(node, node.elts, scope, known)
            if isinstance(node, ast.List) and node.elts
            else term or Term("array()", array(VOID), full=True)
            for node, term in zip(nodes, made, strict=True)
        ]
        return found[0], found[1]

    def _map(self, node: ast.Dict, scope: Scope, type_: DataType) -> Term:
        """A dict with texts as keys where a map is needed."""
        base: Term | None = None
        pairs = []
        for number, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            if key is not None:
                made = self.expression(key, scope)
                pairs.append((made, self.final(value, scope.having(made.known), type_.inner[1])))
                continue
            base = self.expression(value, scope)
            if number > 0:
                raise NotTranslated("** is not the first part of a dict")
            if base.type != type_:
                raise NotTranslated(f"a {base.type.text} is not a {type_.text}")
        return new_map(type_, pairs) if base is None else map_with(base, pairs, where_of(node))

    def dict_(self, node: ast.Dict, scope: Scope, expects: DataType | None) -> Term:
        if expects is not None and expects.name == "MAP":
            return self._map(node, scope, expects)
        if expects is not None and expects.name != "STRUCT":
            raise NotTranslated(f"a dict is not a {expects.text}")
        parts: dict[str, Term] = {}
        every: list[Term] = []
        guards: list[str] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                base = self.expression(value, scope)
                _check_spread(base)
                where = where_of(value)
                scope = scope.having(base.known)
                if base.nullable:
                    guards.append(f"{base.clean} IS NULL, {failure(f'TypeError: {where} is None')}")
                every.append(replace(base, after=base.known, raises=base.raises or base.nullable))
                there = replace(base, none=False, error=None, guarded=None)
                parts |= {n: field_of(there, n, scope.facts, where) for n in base.type.fields}
                continue
            name = self.expression(key, scope)
            if name.kind != "str" or not name.constant:
                raise NotTranslated("a key of a dict is not a constant text")
            named = str(name.constant[0])
            inner = expects.field(named) if expects is not None else None
            if expects is not None and inner is None:
                raise NotTranslated(f"the type {expects.text} has no field {named}")
            made = fitted(self.final(value, scope, inner), inner).cleaned
            scope = scope.having(made.after)
            parts[named] = made
            every.append(made)
        if not parts:
            raise NotTranslated("an empty dict is not a struct")
        lower = [name.lower() for name in parts]
        if len(set(lower)) < len(lower):
            raise NotTranslated("two fields differ only in case")
        if expects is not None:
            missing = {n: constant(None) for n in expects.fields if n not in parts}
            parts = {
                name: fitted((parts | missing)[name], expects.field(name)).cleaned
                for name in expects.fields
            }
        if any(each.kind == "none" for each in parts.values()):
            raise NotTranslated("a field that is always None has no type")
        if expects is None:
            parts = {name: fitted(each, None).cleaned for name, each in parts.items()}
        listed = ", ".join(f"{constant(name).sql}, {each.sql}" for name, each in parts.items())
        type_ = struct(**{name: each.type for name, each in parts.items()})
        sql = f"named_struct({listed})"
        for guard in reversed(guards):
            sql = f"if({guard}, {sql})"
        return of_parts(sql, type_, [*every, *parts.values()])

    def variable(self, type_: DataType, *, none: bool) -> Term:
        """A variable of a lambda function of Spark."""
        self.variables += 1
        name = "x" if self.variables == 1 else f"x{self.variables}"
        return column(name, type_, none=none)

    def filtered(
        self, node: ast.ListComp | ast.GeneratorExp, scope: Scope
    ) -> tuple[Term, Term, Scope]:
        """The list of a comprehension after its conditions, its variable, and the inner scope."""
        match node.generators:
            case [ast.comprehension(target=ast.Name(id=name), iter=iter_, ifs=ifs, is_async=0)]:
                pass
            case _:
                raise unknown(node)
        source = self.expression(iter_, scope)
        if source.kind != "list" or source.constant or source.type.inner[0] == VOID:
            raise NotTranslated(f"{where_of(iter_)} is not a list")
        where = where_of(iter_)
        items = strict(source.sql, source.type, source.binds, (source,), where)
        items = replace(items, full=source.full)
        inner = source.type.inner[0]
        if inner.name == "TIMESTAMP":
            raise NotTranslated("its elements are TIMESTAMP")
        if ifs:
            variable = self.variable(inner, none=not source.full)
            within = scope.naming(name, variable).only_if(NOTHING)
            test = constant(True)
            for each in ifs:
                one = truth(self.expression(each, within))
                test = conjunction(test, one)
                within = within.having(one.after | one.if_true)
            sql = f"filter({items.sql}, {variable.sql} -> {test.sql})"
            kept = variable.sql in test.after | test.if_true
            items = replace(
                items, sql=sql, full=source.full or kept, binds=ATOM,
                raises=items.raises or test.raises,
            )  # fmt: skip
        variable = self.variable(inner, none=not items.full)
        within = scope.naming(name, variable).only_if(NOTHING)
        return items, variable, within

    def comprehension(self, node: ast.ListComp, scope: Scope, expects: DataType | None) -> Term:
        items, variable, within = self.filtered(node, scope)
        inner = expects.inner[0] if expects is not None and expects.name == "ARRAY" else None
        body = fitted(self.final(node.elt, within, inner), inner).cleaned
        if body.kind == "none":
            raise NotTranslated("a list of None has no type")
        if body.sql == variable.sql and body.type == items.type.inner[0]:
            return items
        sql = f"transform({items.sql}, {variable.sql} -> {body.sql})"
        return replace(
            items, sql=sql, type=array(body.type), binds=ATOM, full=not body.none,
            raises=items.raises or body.raises,
        )  # fmt: skip


def _check_spread(base: Term) -> None:
    """Raise NotTranslated for what `**` cannot be applied to."""
    if base.kind != "struct":
        raise NotTranslated("** is not applied to a struct")
    if base.built and base.raises:
        raise NotTranslated("** is applied to a dict whose parts may fail")
