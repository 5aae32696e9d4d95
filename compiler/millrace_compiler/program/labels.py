"""The label of a node without a comment, which its name or its variable implies."""

from __future__ import annotations

import re

from millrace_model.documents import FRAGMENT

from millrace_compiler.declarations.operator import registry
from millrace_compiler.program.identities import base_of
from millrace_compiler.program.names import identifier

_SERIAL = re.compile(r"[-_]\d*$")


def implied_label(kind: str, id_: str, variable: str | None) -> str | None:
    """Return the label that the code itself implies for a node, or ``None``.

    The label is derived from the id: ``by-order`` is "By order". If the id only repeats the kind
    (``filter-2``), it is derived from the variable or, without one, is the kind's title. A topic
    sink with the default id and a store that is not assigned to a variable have no label.
    """
    if kind.startswith("store.") and variable is None:
        return None
    stem = _stem(id_.replace("-", "_"))
    if stem not in {*kind.split("."), identifier(base_of(kind))}:
        return _sentence(id_)
    named = _stem(variable or "")
    if named and named != stem and not kind.startswith("store."):
        return _sentence(named)
    none = kind == FRAGMENT or (kind == "sink.topic" and stem == "out")
    return None if none else registry()[kind].title


def _stem(name: str) -> str:
    """The name without the number that makes it unique."""
    return _SERIAL.sub("", name)


def _sentence(name: str) -> str:
    words = name.replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]
