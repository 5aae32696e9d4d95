"""Documents as they run: with the values of an environment, and without fragments."""

from __future__ import annotations

from millrace_model.documents import TopologyDocument

ENVIRONMENTS = ("dev", "test", "prod")


def filled_in(document: TopologyDocument, environment: str | None) -> TopologyDocument:
    """Return a document with the values of an environment, and with its fragments."""
    if document.get("parameters") is None:
        return document
    from millrace_compiler.graphs.fragments import filled

    return filled(document, environment)


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
