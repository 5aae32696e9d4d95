"""``python -m millrace_compiler.catalog.generate``: writes what is generated from declarations.

That is the catalog (``catalog.json``) and the pages of the operators (``docs/operators``).
"""

from __future__ import annotations

from pathlib import Path

from millrace_compiler.catalog.catalog import CATALOG_FILE, catalog_text
from millrace_compiler.catalog.pages import write_pages

PAGES = Path(__file__).parents[3] / "docs" / "operators"


def main() -> None:
    """Writes the catalog and the pages."""
    CATALOG_FILE.write_text(catalog_text(), "utf-8")
    write_pages(PAGES)


if __name__ == "__main__":
    main()
