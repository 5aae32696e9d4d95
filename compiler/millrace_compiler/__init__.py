"""Compiles topology documents to diagnostics, a plan and a PySpark job.

The compiler is a pure library: no Spark, no web framework, no queue. One external component, the
*analyzer* (:class:`Analyzer`), determines the types of Spark SQL expressions. The public API:

``load_document(text)``
    Parses JSON text into the raw document (a ``dict``). Raises :class:`DocumentError`, whose
    ``diagnostics`` describe the faults. A document that is already a ``dict`` needs no loading.

``compile_document(document, analyzer, schemas=None)``
    Compiles a document, valid or not, to a :class:`Compilation` with ``ok``, ``diagnostics``,
    ``ports``, ``plan``, ``code``, ``source_map`` and ``summaries``. ``plan`` is ``None`` if a
    fault hides the shape of the graph; ``code`` is ``None`` if there is an error. Never raises
    for a bad document. ``Compilation.to_json()`` is the response of the compile endpoint.

``describe(document, analyzer)``
    Returns a :class:`Description`: ``text`` in the manner of ``Topology#describe``, and
    ``to_json()``. Raises :class:`Refused` with the diagnostics if the graph is refused.

``bundle_files(compilation, runtime, operator_jar=None)``
    Returns the files of an exported job by path (``job.py``, the runtime, ``README.md`` ...).

``catalog()``
    Returns the catalog of operators, formats, settings and functions, ready for JSON.

Analyzers: :class:`SocketAnalyzer` (a running server), :class:`CachingAnalyzer` (an LRU cache in
front of another one) and :class:`RecordedAnalyzer` (answers from a file; a double for tests).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from millrace_compiler.catalog.catalog import catalog
    from millrace_compiler.compilation.compilation import Compilation, Refused, compile_document
    from millrace_compiler.compilation.describe import Description, describe
    from millrace_compiler.diagnostics.diagnostics import Diagnostic
    from millrace_compiler.documents.document import FORMAT, DocumentError, load_document
    from millrace_compiler.export.bundle import bundle_files
    from millrace_compiler.inference.analysis import (
        Analyzer,
        AnalyzerUnavailable,
        CachingAnalyzer,
        ExpressionError,
        ExpressionRequest,
        ExpressionResult,
        RecordedAnalyzer,
        SocketAnalyzer,
    )
    from millrace_compiler.inference.registries import HttpSchemas, NoSchema, Schemas

# Names are imported on first use: a program that builds a document needs only a few of them.
_HOMES = {
    "catalog.catalog": ("catalog",),
    "compilation.compilation": ("Compilation", "Refused", "compile_document"),
    "compilation.describe": ("Description", "describe"),
    "diagnostics.diagnostics": ("Diagnostic",),
    "documents.document": ("FORMAT", "DocumentError", "load_document"),
    "export.bundle": ("bundle_files",),
    "inference.analysis": (
        "Analyzer",
        "AnalyzerUnavailable",
        "CachingAnalyzer",
        "ExpressionError",
        "ExpressionRequest",
        "ExpressionResult",
        "RecordedAnalyzer",
        "SocketAnalyzer",
    ),
    "inference.registries": ("HttpSchemas", "NoSchema", "Schemas"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

# A package has the name of the function `catalog`. Python gives it that name in this module when it
# is first imported, which is now, and never again.
importlib.import_module(f"{__name__}.catalog")
del globals()["catalog"]


def __getattr__(name: str) -> Any:
    """Import a name of the package when it is first used."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found


__all__ = [
    "FORMAT",
    "Analyzer",
    "AnalyzerUnavailable",
    "CachingAnalyzer",
    "Compilation",
    "Description",
    "Diagnostic",
    "DocumentError",
    "ExpressionError",
    "ExpressionRequest",
    "ExpressionResult",
    "HttpSchemas",
    "NoSchema",
    "RecordedAnalyzer",
    "Refused",
    "Schemas",
    "SocketAnalyzer",
    "bundle_files",
    "catalog",
    "compile_document",
    "describe",
    "load_document",
]
