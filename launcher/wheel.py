"""``./millrace wheel``: build the runtime as a wheel with its compiled operator.

Programs run with it alone: ``pip install millrace-*.whl`` installs pyspark too. The wheel contains
the compiler, which plans programs.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from millrace_compiler.bundle import PYSPARK, RE2, package_files

from launcher import commands, packages, places, sbom
from launcher.console import echo

NAME = "millrace"
_TAG = "py3-none-any"
_ENTRY_POINTS = "[pytest11]\nmillrace = millrace_runtime.testing.plugin\n"


def main(arguments: list[str]) -> int:
    """Write the wheel."""
    parser = commands.parser("wheel")
    parser.add_argument("-o", "--output", default="dist", metavar="DIR", help="folder (dist)")
    options = parser.parse_args(arguments[1:])
    from millrace_runtime.jars import operator_jar

    made = build(Path(options.output), operator_jar())
    echo(f"wheel: {made}")
    return 0


def build(folder: Path, operator: Path) -> Path:
    """Build the wheel of the version in pyproject.toml, creating the folder if necessary."""
    version = packages.version()
    info = f"{NAME}-{version}.dist-info"
    files = package_files(places.REPOSITORY / "runtime", operator)
    files[f"{info}/METADATA"] = _metadata(version).encode()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: millrace\nRoot-Is-Purelib: true\nTag: {_TAG}\n".encode()
    )
    files[f"{info}/sboms/{NAME}.cdx.json"] = sbom.cyclonedx(NAME, version, _required()).encode()
    files[f"{info}/entry_points.txt"] = _ENTRY_POINTS.encode()
    record = f"{info}/RECORD"
    rows = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in files.items()]
    files[record] = ("\n".join([*rows, f"{record},,"]) + "\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{NAME}-{version}-{_TAG}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            # A fixed time for all files, so that the same sources yield the same bytes.
            wheel.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), data)
    return target


def _required() -> Iterator[packages.Package]:
    """Return the locked packages that pip and the first start install beside the wheel."""
    names = {each.partition("==")[0] for each in (PYSPARK, RE2)} | {"py4j"}
    yield from (each for each in packages.python_packages() if each.name in names)
    yield from packages.jar_packages("connector")


def _metadata(version: str) -> str:
    return (
        f"Metadata-Version: 2.4\nName: {NAME}\nVersion: {version}\n"
        "Summary: Kafka Streams topologies as programs in Python, run on Spark.\n"
        "License: Apache-2.0\nRequires-Python: >=3.11\n"
        f"Requires-Dist: {PYSPARK}\nRequires-Dist: {RE2}\n"
    )


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
