"""Removes unused definitions from the parts of a plain program."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

#: Methods that Spark or the parts themselves call by these names.
_CALLED = frozenset(
    {"init", "process", "close", "handleInputRows", "handleExpiredTimer", "handleInitialState"}
)
#: Functions with which code can use names that its text does not contain.
_DYNAMIC = frozenset({"getattr", "hasattr", "vars", "dir", "eval", "exec", "globals"})


@dataclass(frozen=True)
class _Definition:
    name: str
    start: int
    end: int

    def contains(self, line: int) -> bool:
        return self.start <= line <= self.end


def without_unused(parts: Sequence[str], others: Sequence[str]) -> list[str]:
    """The parts without the functions, classes and methods that neither they nor others use."""
    kept = list(parts)
    elsewhere = {name for text in others for name in used_names(text)}
    if elsewhere & _DYNAMIC:
        return kept
    while True:
        found = [_without_one(text, kept, elsewhere) for text in kept]
        if found == kept:
            return [text for text in kept if text.strip()]
        kept = found


def used_names(text: str) -> set[str]:
    """The names and attributes that a program reads, including those in quoted annotations."""
    return {name for name, _ in _uses(text)}


def _without_one(text: str, parts: Sequence[str], elsewhere: set[str]) -> str:
    outside = elsewhere.union(*(used_names(part) for part in parts if part is not text))
    own = _uses(text)
    for each in _definitions(text):
        if each.name in outside or any(n == each.name and not each.contains(at) for n, at in own):
            continue
        lines = text.split("\n")
        before = lines[: each.start - 1]
        while before and not before[-1]:
            before.pop()
        return "\n".join([*before, *lines[each.end :]])
    return text


@lru_cache(maxsize=64)
def _tree(text: str) -> ast.Module:
    return ast.parse(text)


@lru_cache(maxsize=64)
def _uses(text: str) -> tuple[tuple[str, int], ...]:
    """Names that are read, with their line numbers."""
    return tuple(_read(text))


def _read(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(_tree(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                yield name, node.lineno
            case ast.Constant(value=str() as name) if name.isidentifier():
                yield name, node.lineno


def _definitions(text: str) -> Iterator[_Definition]:
    for node in _tree(text).body:
        yield from _named(node)
        if isinstance(node, ast.ClassDef):
            methods = (each for each in node.body if isinstance(each, ast.FunctionDef))
            for method in methods:
                if method.name not in _CALLED and not method.name.startswith("__"):
                    yield from _named(method)


def _named(node: ast.stmt) -> Iterator[_Definition]:
    match node:
        case (
            ast.FunctionDef(name=name, decorator_list=above)
            | ast.ClassDef(name=name, decorator_list=above)
        ):
            start = min([node.lineno, *(each.lineno for each in above)])
            yield _Definition(name, start, node.end_lineno or node.lineno)
        case ast.Assign(targets=[ast.Name(id=name)]):
            yield _Definition(name, node.lineno, node.end_lineno or node.lineno)
