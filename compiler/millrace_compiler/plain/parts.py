"""Parts of a plain program beside the topology: their text, and what they import."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.plain.keeping import parts_of
from millrace_compiler.plain.processor_template import PROCESSOR, PROCESSOR_IMPORTS
from millrace_compiler.plain.program import Program
from millrace_compiler.plain.state_template import (
    FOREIGN_KEY_JOIN,
    FOREIGN_KEY_JOIN_IMPORTS,
    IN_ORDER,
    IN_ORDER_IMPORTS,
    KEY_BYTES,
    KEY_BYTES_IMPORTS,
    REFERENCES,
    REFERENCES_IMPORTS,
    SLIDING,
    SLIDING_IMPORTS,
    SUPPRESS,
    SUPPRESS_IMPORTS,
    TABLE_CHANGES,
    TABLE_CHANGES_IMPORTS,
    TABLE_JOIN,
    TABLE_JOIN_IMPORTS,
    TABLE_LOOKUP,
    TABLE_LOOKUP_IMPORTS,
)
from millrace_compiler.program.classes import bound_names

Imports = Mapping[str, tuple[str, ...]]

#: Parts by name, in the order in which they are written.
PARTS: dict[str, tuple[str, Imports]] = {
    "processor": (PROCESSOR, PROCESSOR_IMPORTS),
    "table_join": (TABLE_JOIN, TABLE_JOIN_IMPORTS),
    "table_lookup": (TABLE_LOOKUP, TABLE_LOOKUP_IMPORTS),
    "table_changes": (TABLE_CHANGES, TABLE_CHANGES_IMPORTS),
    "references": (REFERENCES, REFERENCES_IMPORTS),
    "foreign_key_join": (FOREIGN_KEY_JOIN, FOREIGN_KEY_JOIN_IMPORTS),
    "sliding": (SLIDING, SLIDING_IMPORTS),
    "suppress": (SUPPRESS, SUPPRESS_IMPORTS),
    "key_bytes": (KEY_BYTES, KEY_BYTES_IMPORTS),
    "in_order": (IN_ORDER, IN_ORDER_IMPORTS),
}


def names_of_parts(program: Program) -> set[str]:
    """The names that a program must not use, because the parts of its nodes define them."""
    found: set[str] = set()
    for node in program.graph.operators.values():
        for part in parts_of(program, node):
            text, imports = PARTS[part]
            found |= bound_names(text)
            found.update(name for names in imports.values() for name in names)
    return found
