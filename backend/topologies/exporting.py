"""A version as a zip that runs on a Spark without Millrace."""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from accounts.models import User
from millrace_backend.errors import ApiError

from topologies.compiling import bundled
from topologies.models import Version

if TYPE_CHECKING:
    from millrace_compiler.compilation import Dialect

#: the same bytes for the same version: no clock in the archive
FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def file_name(version: Version) -> str:
    """Name of the zip, in letters that every file system takes."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", version.topology.name).strip("-.") or "topology"
    return f"{safe}-v{version.number}.zip"


def export(version: Version, person: User, dialect: Dialect = "exact") -> bytes:
    """The zip. Raises ApiError with the diagnostics where the version does not compile."""
    with tempfile.TemporaryDirectory(prefix="millrace-export-") as folder:
        diagnostics = bundled(version.document, person, Path(folder), dialect)
        errors = [each for each in diagnostics if each["severity"] == "error"]
        if not errors:
            return _zipped(Path(folder), file_name(version).removesuffix(".zip"))
    raise ApiError(
        "does_not_compile",
        f"Version {version.number} has {len(errors)} errors and no code to export.",
        "Fix the problems listed in the diagnostics and save a new version.",
        diagnostics=diagnostics,
    )


def _zipped(folder: Path, name: str) -> bytes:
    """The files below a folder, as a zip that unpacks into a folder of that name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            entry = zipfile.ZipInfo(f"{name}/{path.relative_to(folder).as_posix()}", FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes())
    return out.getvalue()
