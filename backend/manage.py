"""Django's command line for this project."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Run a management command, with the project's packages on the import path."""
    root = Path(__file__).resolve().parent.parent
    for room in ("compiler", "runtime", "workers", "backend"):
        if str(root / room) not in sys.path:
            sys.path.insert(0, str(root / room))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "millrace_backend.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
