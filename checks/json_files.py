"""``python -m checks.json_files [--check]``: write recordings, documents and the dashboard.

The text is that of `millrace_compiler.documents.json_text`. Files that a command generates, such as
the catalog, are written by that command.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from millrace_compiler.documents.json_text import text_of

from launcher import places

PATTERNS = (
    "tests/conformance/random/*.json",
    "tests/conformance/semantics/*.json",
    "tests/golden/*/topology.json",
    "backend/catalog/documents/*.json",
    "docs/grafana/*.json",
)


def main(arguments: list[str]) -> int:
    """Write the files; with ``--check`` list those that would change and return 1."""
    changed = list(differing())
    for path, text in changed:
        if "--check" in arguments:
            print(path.relative_to(places.REPOSITORY))
        else:
            path.write_text(text, encoding="utf-8")
    return int(bool(changed) and "--check" in arguments)


def differing(root: Path = places.REPOSITORY) -> Iterator[tuple[Path, str]]:
    """Yield the files whose text is another one, with the text that they should have."""
    for pattern in PATTERNS:
        for path in sorted(root.glob(pattern)):
            text = path.read_text(encoding="utf-8")
            if (wanted := text_of(json.loads(text))) != text:
                yield path, wanted


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
