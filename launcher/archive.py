"""Archives of loaded classes of this installation's services.

See `millrace_runtime.session.class_archive`.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from millrace_runtime.session.class_archive import Archive

from launcher import places

#: maximum seconds for writing an archive at the end of a first run
WRITING_SECONDS = 45.0


def spark() -> Archive:
    """The archive of Spark's drivers and of the analyzer."""
    spec = importlib.util.find_spec("pyspark")
    folder = Path(spec.origin).parent / "jars" if spec and spec.origin else Path()
    connector = Path(os.environ.get("MILLRACE_JARS") or places.cache() / "jars" / "connector")
    return Archive("spark", [*sorted(connector.glob("*.jar")), *sorted(folder.glob("*.jar"))])


def with_options(options: list[str]) -> dict[str, str]:
    """Return an environment in which Spark's launcher passes these options to its Java."""
    if not options:
        return {}
    given = os.environ.get("SPARK_SUBMIT_OPTS", "")
    return {"SPARK_SUBMIT_OPTS": " ".join([*([given] if given else []), *options])}


__all__ = ["Archive", "spark", "with_options"]
