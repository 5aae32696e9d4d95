"""The command `millrace` of the wheel, whose package `millrace_commands` this file is.

The commands on documents and programs are beside it, in a folder of their own: the names of their
packages are visible only in this process.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> int:
    """Run a command on documents or programs; `down` ends the resident process."""
    own = str(Path(__file__).resolve().parent)
    sys.path.insert(0, own)
    os.environ["PYTHONPATH"] = os.pathsep.join([own, *filter(None, [os.environ.get("PYTHONPATH")])])
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if sys.argv[1:] == ["down"]:
        from launcher import residents

        residents.stop(residents.living())
        return 0
    from cli.main import main as run

    return run(sys.argv[1:])
