"""Modules of a document: what the code of its processors and handlers can import.

Uses the standard library only: a processor's process imports it.
"""

from __future__ import annotations

import importlib.abc
import linecache
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from millrace_runtime.processor.breakpoints import Breakpoints


def file_of(name: str, names: Mapping[str, str]) -> str:
    """Return the file of a module; a package is a module that contains others."""
    path = name.replace(".", "/")
    package = any(each.startswith(f"{name}.") for each in names)
    return f"{path}/__init__.py" if package else f"{path}.py"


class Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports modules from their sources, by their full names."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = dict(sources)
        for name in sources:
            for parent in _parents(name):
                self._sources.setdefault(parent, "")
        self.files = {file_of(name, self._sources) for name in self._sources}

    def stop_at(self, lines: Mapping[str, Collection[int]], breakpoints: Breakpoints) -> None:
        """Add breakpoints in modules, by their names."""
        for name, found in lines.items():
            if name in self._sources:
                file, place = file_of(name, self._sources), f"settings.modules.{name}"
                breakpoints.add(file, self._sources[name], found, place)

    def install(self) -> None:
        """Import these modules from now on, before any others of the same names."""
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module of the document."""
        if fullname not in self._sources:
            return None
        file = file_of(fullname, self._sources)
        return spec_from_loader(
            fullname, self, origin=file, is_package=file.endswith("__init__.py")
        )

    def exec_module(self, module: ModuleType) -> None:
        """Run the source of a module."""
        name = module.__name__
        code, file = self._sources[name], file_of(name, self._sources)
        module.__file__ = file
        linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
        exec(compile(code, file, "exec"), vars(module))  # noqa: S102 - the document's own code


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:number]) for number in range(1, len(parts))]
