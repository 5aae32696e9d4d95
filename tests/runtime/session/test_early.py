"""The JVM of a test run starts before what takes long to import."""

from __future__ import annotations

import os
import subprocess
import sys

from launcher import places

_IMPORTED = """
import sys
from millrace_runtime.testing import sessions
from millrace_runtime import jars
jars.spark_jars(), jars.operator_jar()
print([each for each in ("pyspark", "py4j", "millrace_compiler") if each in sys.modules])
"""


def test_a_session_begins_without_spark_and_the_compiler() -> None:
    found = subprocess.run(
        [sys.executable, "-c", _IMPORTED],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places.PYTHON_PATH)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "[]\n"
