"""Documents with the values that the parameters of a topology have in an environment."""

from __future__ import annotations

from millrace_model.documents import TopologyDocument

ENVIRONMENTS = ("dev", "test", "prod")


def document_in(document: TopologyDocument, environment: str | None) -> TopologyDocument:
    """Return a document with the values of an environment; None: with the defaults.

    A document whose parameters are invalid is returned as it is; the compiler refuses it.
    """
    if document.get("parameters") is None:
        return document
    # The compiler is loaded at its first use, as in `topologies.compiling`.
    from millrace_compiler.graphs.topology_parameters import resolved

    return resolved(document, environment)
