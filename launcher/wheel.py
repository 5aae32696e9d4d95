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

from millrace_compiler.export.bundle import PYSPARK, RE2, package_files

from launcher import commands, packages, places, sbom
from launcher.console import echo

NAME = "millrace"
_TAG = "py3-none-any"
_ENTRY_POINTS = (
    "[console_scripts]\nmillrace = millrace_commands:main\n"
    "[pytest11]\nmillrace = millrace_runtime.testing.plugin\n"
)
#: the package of the command `millrace`, and the folders of the repository in it
_COMMANDS = "millrace_commands"
_ROOMS = ("cli", "launcher", "oracle")
_SKIPPED = ("__pycache__", ".mypy_cache", ".ruff_cache")


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
    files = package_files(places.REPOSITORY / "runtime", operator) | _commands()
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
    names = {each.partition("==")[0] for each in (PYSPARK, RE2)} | {"py4j", "psutil"}
    yield from (each for each in packages.python_packages() if each.name in names)
    yield from packages.jar_packages("connector")


def _commands() -> dict[str, bytes]:
    """Return the files of the command `millrace`, by their paths in the wheel."""
    own = places.REPOSITORY / "cli" / "console_script.py"
    lock = places.RUNTIME / "jars.lock"
    files = {f"{_COMMANDS}/__init__.py": own, f"{_COMMANDS}/runtime/jars.lock": lock}
    for room in _ROOMS:
        for path in sorted((places.REPOSITORY / room).rglob("*")):
            parts = path.relative_to(places.REPOSITORY).parts
            if path.is_file() and not any(part in _SKIPPED for part in parts):
                files["/".join((_COMMANDS, *parts))] = path
    return {name: path.read_bytes() for name, path in files.items()}


def _metadata(version: str) -> str:
    return (
        f"Metadata-Version: 2.4\nName: {NAME}\nVersion: {version}\n"
        "Summary: Kafka Streams topologies as programs in Python, run on Spark.\n"
        "License: Apache-2.0\nRequires-Python: >=3.11\n"
        f"Requires-Dist: {PYSPARK}\nRequires-Dist: {RE2}\nRequires-Dist: psutil\n"
    )


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
