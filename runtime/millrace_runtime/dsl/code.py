"""Source code of processors, which run in a separate Python process."""

from __future__ import annotations

import importlib.util
import linecache
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from millrace_compiler.program.classes import imports, in_place, own_code

from millrace_runtime.dsl.places import Place
from millrace_runtime.processor import Processor


@dataclass(frozen=True)
class ProcessorCode:
    """The code of a processor.

    `text`: the class and what it needs, as in the document. `in_place`: the same at its lines in
    `file`, with which it runs in this process's job, so that errors name lines of the file.
    `beside`: line and name of the first import of a module beside the file, which is not part of
    the document.
    """

    text: str
    class_name: str
    file: str
    in_place: str
    beside: tuple[int, str] | None


def code_of(processor: type[Processor] | str, place: Place) -> ProcessorCode:
    """Return the code of a class, or of `"file.py:Class"` relative to the program.

    Raises ValueError if the source is not found.
    """
    if isinstance(processor, str):
        path, _, name = processor.rpartition(":")
        if not path or not name:
            raise ValueError(f"a processor is a class or 'file.py:Class', found {processor!r}")
        file = Path(place.file).parent / path
        try:
            # Line ends are not translated, so that the document has the text of the file.
            with file.open(encoding="utf-8", newline="") as handle:
                text = handle.read()
        except OSError as error:
            raise ValueError(f"{file} cannot be read: {error.strerror}") from None
        return ProcessorCode(text, name, str(file), text, _beside(file, text))
    name = processor.__qualname__
    if processor.__module__ == place.module:
        found, source = place.file, "".join(place.source())
    else:
        module = sys.modules[processor.__module__]
        found = str(module.__file__)
        source = "".join(linecache.getlines(found, vars(module)))
    code = own_code(source, name)
    if code is None:
        raise ValueError(f"the class {name} must be defined at the top level of its file")
    lines = in_place(source, name)
    return ProcessorCode(code, name, found, lines, _beside(Path(found), lines))


def placed(graph: Mapping[str, Any], codes: Mapping[str, ProcessorCode]) -> dict[str, Any]:
    """Return a task graph whose processors run with the lines of their files; `codes` by node."""
    nodes = []
    for node in graph["nodes"]:
        found = codes.get(node["node"]) if "class_name" in node["params"] else None
        if found is not None:
            changed = {"code": found.in_place, "file": Path(found.file).name}
            node = {**node, "params": {**node["params"], **changed}}  # noqa: PLW2901
        nodes.append(node)
    return {**graph, "nodes": nodes}


def _beside(file: Path, code: str) -> tuple[int, str] | None:
    # Called while the program runs: afterwards its modules cannot be found any more.
    folder = file.resolve().parent
    return next((each for each in imports(code) if _is_in(folder, each[1])), None)


def _is_in(folder: Path, module: str) -> bool:
    """Whether a module is a file of this folder, or a package in it."""
    if module.startswith("."):
        return True
    try:
        spec = importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return False  # it may be installed where the job runs
    if spec is None:
        return False
    files = [spec.origin] if spec.has_location and spec.origin else []
    packages = list(spec.submodule_search_locations or ())
    found = [Path(each).resolve().parent for each in packages or files]
    return folder in found
