"""Source code of processors, which run in a separate Python process."""

from __future__ import annotations

import inspect
import linecache
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType
from typing import Any

from millrace_compiler.program.classes import in_place, last_function, own_code

from millrace_runtime.code.modules import modules_of, relative
from millrace_runtime.code.places import Place
from millrace_runtime.processor import Processor
from millrace_runtime.processor.handling import Handler

#: Returns the windows of a timestamp in ms, as pairs of start and end; or `"file.py:function"`.
WindowFunction = Callable[[int], Iterable[tuple[int, int]]] | str
#: A class, an instance of one (whose arguments are kept), or `"file.py:Class"`.
ProcessorSource = type[Processor] | Processor | str


@dataclass(frozen=True)
class ProcessorCode:
    """The code of a processor, and the arguments with which its class is created.

    `text`: the class and what it needs, as in the document. `in_place`: the same at its lines in
    `file`, with which it runs in this process's job, so that errors name lines of the file.
    `modules`: the modules beside the program that it imports, which become part of the document.
    `relative`: line and name of the first relative import, which cannot be part of it.
    """

    text: str
    class_name: str
    file: str
    in_place: str
    modules: Mapping[str, str]
    relative: tuple[int, str] | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)

    @property
    def params(self) -> dict[str, object]:
        """The parameters of the node that runs the class."""
        arguments = dict(self.arguments) or None
        return {"code": self.text, "class_name": self.class_name, "arguments": arguments}


def code_of(
    processor: ProcessorSource, place: Place, arguments: Mapping[str, object] | None = None
) -> ProcessorCode:
    """Return the code of a class, of an instance, or of `"file.py:Class"` beside the program.

    `arguments`: those of a class that is named by text or passed as a class. Raises ValueError if
    the source is not found, and TypeError for arguments that are not JSON.
    """
    given = dict(arguments or {})
    if isinstance(processor, Processor):
        if given:
            raise TypeError("an instance of a processor already has its arguments")
        given = _arguments(processor)
        processor = type(processor)
    if not isinstance(processor, type | str):
        raise TypeError(
            'a processor is a class, an instance of a class that extends Processor, or "file.py:'
            f'Class", found {processor!r}'
        )
    code = _code_of(processor, place)
    made = {name: _json(value, f"the argument {name} of {code.class_name}")
            for name, value in given.items()}  # fmt: skip
    return replace(code, arguments=made)


def _arguments(processor: Processor) -> dict[str, object]:
    """Return the arguments with which an instance was created, by name."""
    args, keywords = processor.created_with
    signature = inspect.signature(type(processor).__init__)
    bound = signature.bind(processor, *args, **keywords).arguments
    found: dict[str, object] = {}
    for name, parameter in list(signature.parameters.items())[1:]:
        if name not in bound:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise TypeError(f"{type(processor).__name__} takes *{name}: it needs a list instead")
        if parameter.kind is parameter.VAR_KEYWORD:
            found |= bound[name]
        else:
            found[name] = bound[name]
    return found


def _json(value: Any, what: str) -> Any:
    """Return a value as JSON has it. Raises TypeError for others, which a document cannot keep."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list | tuple):
        return [_json(each, f"an element of {what}") for each in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _json(each, f"{what}, {key}") for key, each in value.items()}
    raise TypeError(
        f"{what} is kept in the document, so it must be None, a bool, an int, a finite float, "
        f"a str, a list, or a dict with str keys, not {value!r}"[:300]
    )


def _code_of(processor: type[Processor] | FunctionType | str, place: Place) -> ProcessorCode:
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
        return packed(text, name, str(file), text, place)
    name = processor.__qualname__
    if processor.__module__ == place.module:
        found, source = place.file, "".join(place.source())
    else:
        module = sys.modules[processor.__module__]
        found = str(module.__file__)
        source = "".join(linecache.getlines(found, vars(module)))
    code = own_code(source, name)
    if code is None:
        kind = "class" if isinstance(processor, type) else "function"
        raise ValueError(f"the {kind} {name} must be defined at the top level of its file")
    lines = in_place(source, name)
    return packed(code, name, found, lines, place)


def packed(text: str, name: str, file: str, lines: str, place: Place) -> ProcessorCode:
    """Return code with the modules beside the program, or beside its file, that it imports."""
    # Called while the program runs: afterwards its files may be gone.
    roots = [Path(each).resolve().parent for each in (place.file, file) if each]
    return ProcessorCode(text, name, file, lines, modules_of(lines, roots), relative(lines))


def handler_of(handler: Handler | str, place: Place) -> ProcessorCode:
    """Return the code of a function that handles errors, or of `"file.py:function"`.

    The function is the last one of the code. Raises ValueError if its source is not found.
    """
    return _function_of(handler, place, "a handler is")


def windows_of(function: WindowFunction, place: Place) -> ProcessorCode:
    """Return the code of a function that returns windows, or of `"file.py:function"`."""
    return _function_of(function, place, "windows are given by")


def _function_of(function: object, place: Place, what: str) -> ProcessorCode:
    if not isinstance(function, str) and not isinstance(function, FunctionType):
        raise TypeError(f"{what} a function or 'file.py:function', not {function!r}")
    code = _code_of(function, place)
    text = last_function(code.text, code.class_name)
    if text is None:
        raise ValueError(f"the code has no function {code.class_name}")
    return replace(code, text=text)
