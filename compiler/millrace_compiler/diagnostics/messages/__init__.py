"""Messages and hints of all diagnostics, by code."""

from __future__ import annotations

from millrace_compiler.diagnostics.messages.documents import DOCUMENTS
from millrace_compiler.diagnostics.messages.operators import OPERATORS
from millrace_compiler.diagnostics.messages.parameters import PARAMETERS
from millrace_compiler.diagnostics.messages.plain import PLAIN
from millrace_compiler.diagnostics.prose import Prose

SENTENCES: dict[str, Prose] = DOCUMENTS | PARAMETERS | OPERATORS | PLAIN
