"""Source code of processors, which run in a separate Python process."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path

from millrace_compiler.program.classes import own_code

from millrace_runtime.dsl.places import Place
from millrace_runtime.processor import Processor


def code_of(processor: type[Processor] | str, place: Place) -> tuple[str, str]:
    """Return the source and the name of a class, or of `"file.py:Class"` relative to the program.

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
                return handle.read(), name
        except OSError as error:
            raise ValueError(f"{file} cannot be read: {error.strerror}") from None
    name = processor.__qualname__
    if processor.__module__ == place.module:
        source = "".join(place.source())
    else:
        module = sys.modules[processor.__module__]
        source = "".join(linecache.getlines(str(module.__file__), vars(module)))
    code = own_code(source, name)
    if code is None:
        raise ValueError(f"the class {name} must be defined at the top level of its file")
    return code, name
