"""Wheels of the packages that are installed here, so that pip needs no network."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path


def wheel_of(name: str, folder: Path) -> None:
    """Write the wheel of an installed distribution."""
    found: Distribution = distribution(name)
    [about] = [file.parent.name for file in found.files or () if file.name == "METADATA"]
    prefix = about.removesuffix(".dist-info")
    tags = re.findall(r"^Tag: (\S+)$", found.read_text("WHEEL") or "", re.MULTILINE)
    record: list[tuple[str, str, str]] = []
    path = folder / f"{prefix}-{tags[-1]}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file in found.files or ():
            if file.suffix == ".pyc" or file.name in {"RECORD", "INSTALLER", "REQUESTED"}:
                continue
            inside = f"{prefix}.data/scripts/{file.name}" if ".." in file.parts else str(file)
            archive.write(str(file.locate()), inside)
            record.append((inside, "", ""))
        text = io.StringIO()
        csv.writer(text).writerows([*record, (f"{prefix}.dist-info/RECORD", "", "")])
        archive.writestr(f"{prefix}.dist-info/RECORD", text.getvalue())
