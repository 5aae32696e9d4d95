"""``python -m launcher.prepare``: download jars and compile the operator for an image."""

from __future__ import annotations

import os
import shutil
import sys

from launcher import jars, java, places, up
from launcher.console import Problem, echo


def main() -> int:
    """Fetch the connector's jars and compile the operator into MILLRACE_CACHE."""
    try:
        os.environ.update(java.environment())
        jars.ensure("connector")
        # A fixed name, which does not depend on the operator's sources.
        shutil.copyfile(up.build_operator(), places.cache() / "operator.jar")
    except Problem as problem:
        echo(f"prepare: {problem}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
