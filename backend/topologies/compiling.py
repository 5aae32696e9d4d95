"""The backend's one door to the compiler, which is loaded at its first use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from millrace_backend.errors import Unavailable

if TYPE_CHECKING:
    from millrace_compiler import Analyzer, Compilation


@cache
def analyzer() -> Analyzer:
    """The running analyzer with a cache in front, shared by all threads.

    Raises Unavailable where none is set.
    """
    if not settings.MILLRACE_ANALYZER:
        raise Unavailable(
            "analyzer_unreachable",
            "No analyzer is set: expressions cannot be checked.",
            "Start Millrace by `./millrace up`, or name a running analyzer in MILLRACE_ANALYZER.",
        )
    from millrace_compiler import CachingAnalyzer, SocketAnalyzer

    host, _, port = settings.MILLRACE_ANALYZER.rpartition(":")
    return CachingAnalyzer(SocketAnalyzer(host or "127.0.0.1", int(port)))


def compiled(document: Mapping[str, Any]) -> Compilation:
    """What the compiler says; an analyzer that does not answer is one of its diagnostics.

    Raises Unavailable where none is set.
    """
    asked = analyzer()
    from millrace_compiler import compile_document

    return compile_document(dict(document), asked)
