"""Modules of a document: Python sources that the code of its processors can import."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping

from millrace_compiler.parameters.parameters import Faults, Parameter
from millrace_compiler.parameters.parts import Code

#: maximum number of modules, and of characters of all together
MOST, LONGEST = 100, 1_000_000


class Modules(Parameter[dict[str, str]]):
    """Python source by the full name of its module: ``{"shop.prices": "def ..."}``.

    A package is a module that contains others; its own source may be missing.
    """

    widget = "modules"

    def __init__(self, title: str, help: str) -> None:
        super().__init__(title, help, required=False)

    def neutral(self) -> dict[str, str]:
        return {}

    def parse(self, raw: object, faults: Faults) -> dict[str, str]:
        if not isinstance(raw, dict):
            faults.shape(raw, "an object of names and Python source")
            return {}
        size = sum(len(code) for code in raw.values() if isinstance(code, str))
        if len(raw) > MOST or size > LONGEST:
            found = f"{len(raw)} modules with {size} characters"
            needed = f"at most {MOST} modules with {LONGEST} characters"
            faults.add("out_of_bounds", found=found, needed=needed)
            return {}
        return {name: self._code(name, code, faults) for name, code in raw.items()}

    def _code(self, name: str, code: object, faults: Faults) -> str:
        if not all(part.isidentifier() for part in name.split(".")):
            faults.shape(name, "the name of a module: letters, digits and “_”, with “.” between")
        elif name.partition(".")[0] in TAKEN or name == "job":
            faults.add("module_taken", path=f".{name}", name=name)
        if isinstance(code, str) and not code.strip():
            return code
        return Code(self.title, self.help).parse(code, faults.within(f".{name}"))


#: Modules that the code of a document can import already.
TAKEN = frozenset(sys.stdlib_module_names) | {"millrace_runtime", "millrace_compiler", "pyspark"}


def files_of(modules: Mapping[str, str]) -> dict[str, str]:
    """The files of modules by path, with empty ones for packages without a source."""
    whole = {parent: "" for name in modules for parent in parents(name)} | dict(modules)
    packages = {parent for name in whole for parent in parents(name)}
    return {
        f"{name.replace('.', '/')}{'/__init__' if name in packages else ''}.py": code
        for name, code in whole.items()
    }


def parents(name: str) -> list[str]:
    """The packages of a module, the outermost first."""
    parts = name.split(".")
    return [".".join(parts[:number]) for number in range(1, len(parts))]


def asked(code: str, package: str = "") -> Iterator[tuple[int, str]]:
    """Line and full name of everything that code imports and that may be a module.

    ``from a import b`` may import the module ``a.b``. ``package``: that of the code, for relative
    imports. Nothing for code that is not valid Python.
    """
    try:
        items = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError):
        return
    for item in items:
        if isinstance(item, ast.Import):
            yield from ((item.lineno, alias.name) for alias in item.names)
        elif isinstance(item, ast.ImportFrom):
            base = item.module or ""
            if item.level:
                up = package.split(".")[: len(package.split(".")) - item.level + 1]
                base = ".".join([*up, base]).strip(".")
            yield item.lineno, base
            yield from ((item.lineno, f"{base}.{alias.name}") for alias in item.names)


def imported(codes: Iterable[str], modules: Mapping[str, str]) -> set[str]:
    """The modules that some code imports, and those that these import."""
    packages = {parent for name in modules for parent in parents(name)}
    found: set[str] = set()
    open_ = [(code, "") for code in codes]
    while open_:
        code, package = open_.pop()
        for _, name in asked(code, package):
            for each in (*parents(name), name):
                if each in modules and each not in found:
                    found.add(each)
                    own = each if each in packages else each.rpartition(".")[0]
                    open_.append((modules[each], own))
    return found
