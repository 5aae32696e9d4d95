"""Loading of the topology that a program builds, by running the program."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from millrace_model.documents import TopologyDocument

from millrace_runtime.dsl.topology import Topology
from millrace_runtime.errors import MillraceError
from millrace_runtime.services import confinement

PROGRAM = "job.py"
#: name of the module that a program runs as
_MODULE = "millrace_program"


def load_program(path: str | Path) -> Topology:
    """Return the topology that a program builds: a file, or a folder with a `job.py`.

    The file runs as a module, without the code under `if __name__ == "__main__"`. Raises
    MillraceError `program_unreadable`, `program_failed` (with the line) or `program_topology`
    (none, or several).
    """
    file = Path(path)
    if file.is_dir():
        file /= PROGRAM
    if not file.is_file():
        raise MillraceError("program_unreadable", f"There is no program {file}.")
    module = _run(file.resolve())
    found = {id(v): v for v in module.values() if isinstance(v, Topology)}
    if len(found) != 1:
        count = "no topology" if not found else f"{len(found)} topologies"
        raise MillraceError(
            "program_topology",
            f"{file.name} has {count} at its top level. Exactly one is needed: topology = "
            'Topology("name").',
        )
    return next(iter(found.values()))


def document_of(name: str, text: str, files: Mapping[str, str] | None = None) -> TopologyDocument:
    """Return the document of a program's text, by running it in a folder that has nothing else.

    `name`: the file's name, which errors mention. `files`: texts of the modules beside it, by path.
    Raises MillraceError as `load_program` and `Topology.document` do, and `program_unreadable` for
    a path that leaves the folder.
    """
    place = os.environ.get(confinement.FOLDER)
    with tempfile.TemporaryDirectory(prefix="millrace-program-", dir=place) as folder:
        own = Path(name).name
        file = Path(folder) / (own if own.endswith(".py") else PROGRAM)
        for path, module in (files or {}).items():
            beside = Path(folder, path).resolve()
            if beside == file.resolve() or not beside.is_relative_to(Path(folder).resolve()):
                raise MillraceError("program_unreadable", f"{path} is not beside {name}.")
            beside.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(module, encoding="utf-8", newline="")
        file.write_text(text, encoding="utf-8", newline="")
        return checked_document(load_program(file))


def checked_document(topology: Topology) -> TopologyDocument:
    """Return a topology's document. Raises MillraceError for values that JSON cannot represent."""
    document = topology.document()
    try:
        json.dumps(document, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise MillraceError(
            "program_failed",
            f"The topology contains a value that JSON cannot represent: {error}.",
        ) from None
    return document


def _run(file: Path) -> dict[str, object]:
    spec = spec_from_file_location(_MODULE, file)
    if spec is None or spec.loader is None:
        raise MillraceError("program_unreadable", f"{file.name} is not a Python file (.py).")
    module = module_from_spec(spec)
    sys.path.insert(0, str(file.parent))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    known = {*sys.modules, _MODULE}
    sys.modules[_MODULE] = module  # where dataclasses and type hints look for it
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - it is the user's code, sys.exit included
        raise _failed(file, error) from None
    finally:
        sys.dont_write_bytecode = before
        sys.path.remove(str(file.parent))
        for name in set(sys.modules) - known:
            found = getattr(sys.modules[name], "__file__", None)
            if found and Path(found).parent == file.parent:
                del sys.modules[name]  # another program may have a module of the same name
    return vars(module)


def _failed(file: Path, error: BaseException) -> MillraceError:
    places = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
    own = [each for each in places if Path(each[0]).is_relative_to(file.parent)]
    path, line = own[-1] if own else (str(file), None)
    name = Path(path).relative_to(file.parent).as_posix()
    where = f"{name}, line {line}" if line else file.name
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    if _needs_session(error):
        message = (
            "a Column of Spark needs an active Spark session, and the document of a program is "
            'built without one. Write a Spark SQL expression, such as "upper(value.name)", or a '
            "function."
        )
    return MillraceError("program_failed", f"{where}: {type(error).__name__}: {message}")


def _needs_session(error: BaseException) -> bool:
    """Whether PySpark raised an error because there is no session."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or "pyspark" not in Path(frames[-1].filename).parts:
        return False
    from pyspark import SparkContext

    return SparkContext._active_spark_context is None
