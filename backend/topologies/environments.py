"""Documents as they run: with the values of an environment, and without fragments."""

from __future__ import annotations

from millrace_model.documents import TopologyDocument

ENVIRONMENTS = ("dev", "test", "prod")


def document_in(document: TopologyDocument, environment: str | None) -> TopologyDocument:
    """Return a document with the values of an environment, and without fragments.

    None: with the defaults. A document whose parameters or fragments are invalid is returned as it
    is; the compiler refuses it.
    """
    if not {"parameters", "fragments"} & document.keys():
        return document
    # The compiler is loaded at its first use, as in `topologies.compiling`.
    from millrace_compiler.graphs.fragments import resolved

    return resolved(document, environment)
