"""Calls of functions: built-in ones, those over comprehensions, and others of the program."""

from __future__ import annotations

import ast
from dataclasses import replace
from types import FunctionType
from typing import Any

from millrace_compiler.types.types import BOOLEAN, DataType

from millrace_runtime.functions import calls, numbers
from millrace_runtime.functions.logic import truth
from millrace_runtime.functions.scope import Scope, unknown, where_of
from millrace_runtime.functions.source import NoSource, plain_function, source_of
from millrace_runtime.functions.terms import ATOM, NotTranslated, Term, constant, strict

#: the deepest nesting of calls that are translated
DEEPEST = 8


class FunctionCalls:
    """The part of a translation that calls functions."""

    #: Locals whose evaluation may fail, until they are used: term, name and level.
    unused: list[tuple[Term, str, int]]

    def expression(self, node: ast.expr, scope: Scope) -> Term:
        """The term of an expression."""
        raise NotImplementedError

    def function(self, scope: Scope, expects: DataType | None, *, final: bool = True) -> Term:
        """What the function of a scope returns."""
        raise NotImplementedError

    def filtered(
        self, node: ast.ListComp | ast.GeneratorExp, scope: Scope
    ) -> tuple[Term, Term, Scope]:
        """The list of a comprehension after its conditions, its variable, and the inner scope."""
        raise NotImplementedError

    def call(self, node: ast.Call, scope: Scope) -> Term:
        where = where_of(node)
        if node.keywords:
            raise NotTranslated(f"{where} has keyword arguments")
        if isinstance(node.func, ast.Attribute):
            of = node.func.value
            base = self.expression(of, scope)
            terms = [self.expression(each, scope) for each in node.args]
            return calls.method(base, node.func.attr, terms, scope.facts, where)
        if not isinstance(node.func, ast.Name) or node.func.id in scope.names:
            raise unknown(node)
        try:
            function = scope.source.resolve(node.func.id)
        except LookupError:
            raise NotTranslated(f"{node.func.id} is not defined yet") from None
        if isinstance(function, FunctionType):
            return self._inlined(function, node, scope)
        if function in (any, all, sum) and len(node.args) == 1:
            return self._over(function, node, scope)
        if not any(function is each for each in calls.BUILTINS):
            raise NotTranslated(f"{node.func.id} is not a function that is translated")
        terms = [self.expression(each, scope) for each in node.args]
        return calls.builtin(function, terms, where)

    def _over(self, function: Any, node: ast.Call, scope: Scope) -> Term:
        """`any`, `all` or `sum` of a comprehension."""
        argument = node.args[0]
        if not isinstance(argument, ast.GeneratorExp | ast.ListComp):
            raise unknown(node)
        if isinstance(argument, ast.ListComp) and function is not sum:
            raise unknown(node)  # a list evaluates all elements, a generator does not
        items, variable, within = self.filtered(argument, scope)
        body = self.expression(argument.elt, within)
        if function is sum:
            return numbers.summed(items, variable, body, where_of(node))
        test = truth(body)
        name = "exists" if function is any else "forall"
        sql = f"{name}({items.sql}, {variable.sql} -> {test.sql})"
        return replace(
            strict(sql, BOOLEAN, ATOM, (items,), where_of(node)),
            raises=items.raises or test.raises,
        )

    def _inlined(self, function: FunctionType, node: ast.Call, scope: Scope) -> Term:
        """The result of another function of the program."""
        if scope.depth >= DEEPEST:
            raise NotTranslated(f"{function.__name__} calls others too deeply")
        try:
            source = source_of(function)
            plain_function(source)
        except NoSource as error:
            raise NotTranslated(f"{function.__name__}: {error}") from None
        terms = [self.expression(each, scope) for each in node.args]
        args = source.node.args
        names = [each.arg for each in (*args.posonlyargs, *args.args)]
        if len(terms) > len(names) or len(terms) < len(source.parameters) or args.kwonlyargs:
            raise NotTranslated(f"{function.__name__} has other arguments")
        given = dict(zip(names, terms, strict=False))
        for name, term in given.items():
            if term.raises:
                self.unused.append((term, name, scope.level))
        defaults = {n: constant(v) for n, v in source.defaults.items() if n not in given}
        inner = Scope(source, {**given, **defaults}, scope.facts, scope.level, scope.depth + 1)
        return self.function(inner, None, final=False)
