"""Topology documents in, diagnostics, a plan and a PySpark job out.

The compiler is a pure library: no Spark, no web framework, no queue. It asks one outside part, the
*analyzer* (:class:`Analyzer`), what type a Spark SQL expression has. The whole interface:

``load_document(text)``
    JSON text to the raw document (a ``dict``). Raises :class:`DocumentError`, whose ``diagnostics``
    say what is wrong with the text. A document that is already a ``dict`` needs no loading.

``compile_document(document, analyzer, schemas=None)``
    The full result for a document, including an invalid one: a :class:`Compilation`
    with ``ok``, ``diagnostics``, ``ports``, ``plan``, ``code``, ``source_map`` and ``summaries``.
    ``plan`` is ``None`` where a fault hides the shape of the graph; ``code`` is ``None`` as long as
    there is an error. Never raises for a bad document. ``Compilation.to_json()`` is the answer of
    the compile endpoint.

``describe(document, analyzer)``
    A :class:`Description`: ``text`` in the manner of ``Topology#describe`` and ``to_json()``.
    Raises :class:`Refused` with the diagnostics for a graph that is refused.

``bundle_files(compilation, runtime, operator_jar=None)``
    The files of an exported job by their path (``job.py``, the runtime, ``README.md`` ...).

``catalog()``
    The catalog of operators, formats, settings and functions, ready for JSON.

Analyzers: :class:`SocketAnalyzer` (a running server), :class:`CachingAnalyzer` (remembers answers
of another one) and :class:`RecordedAnalyzer` (answers kept in a file; a double for tests).
"""

from millrace_compiler.analysis import (
    Analyzer,
    AnalyzerUnavailable,
    CachingAnalyzer,
    ExpressionError,
    ExpressionRequest,
    ExpressionResult,
    RecordedAnalyzer,
    SocketAnalyzer,
)
from millrace_compiler.bundle import bundle_files
from millrace_compiler.catalog import catalog
from millrace_compiler.compilation import Compilation, Refused, compile_document
from millrace_compiler.describe import Description, describe
from millrace_compiler.diagnostics import Diagnostic
from millrace_compiler.document import FORMAT, DocumentError, load_document
from millrace_compiler.registries import HttpSchemas, NoSchema, Schemas

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
