"""``python -m millrace_compiler.generate``: writes what is generated from the declarations.

The catalog (``catalog.json`` beside this file) and the operators' pages (``docs/operators``).
"""

from __future__ import annotations

from pathlib import Path

from millrace_compiler.catalog import CATALOG_FILE, catalog_text
from millrace_compiler.pages import write_pages

PAGES = Path(__file__).parents[2] / "docs" / "operators"


def main() -> None:
    """Writes both."""
    CATALOG_FILE.write_text(catalog_text(), "utf-8")
    write_pages(PAGES)


if __name__ == "__main__":
    main()
