"""A version as a zip that runs on a Spark without Millrace."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

from django.conf import settings
from millrace_backend.environment import REPOSITORY
from millrace_backend.errors import ApiError

from topologies.compiling import compiled
from topologies.models import Version

#: the same bytes for the same version: no clock in the archive
FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def file_name(version: Version) -> str:
    """Name of the zip, in letters that every file system takes."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", version.topology.name).strip("-.") or "topology"
    return f"{safe}-v{version.number}.zip"


def export(version: Version) -> bytes:
    """The zip. Raises ApiError with the diagnostics where the version does not compile."""
    compilation = compiled(version.document)
    from millrace_compiler import bundle_files

    if not compilation.ok:
        answer = compilation.to_json()
        errors = [each for each in compilation.diagnostics if each.severity == "error"]
        raise ApiError(
            "does_not_compile",
            f"Version {version.number} has {len(errors)} errors and no code to export.",
            "Mend what the diagnostics name and save a new version.",
            diagnostics=answer["diagnostics"],
        )
    folder = file_name(version).removesuffix(".zip")
    files = bundle_files(compilation, REPOSITORY / "runtime", settings.MILLRACE_OPERATOR_JAR)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{folder}/{Path(path).as_posix()}", FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return out.getvalue()
