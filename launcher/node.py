"""Node, its locked packages, and the built page."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from launcher import places
from launcher.console import Problem, echo

OLDEST = (20, 19)
#: bytes that npm needs for node_modules while it works
SPACE = 1_500_000_000
#: sources of the built page
SOURCES = ("src", "public", "index.html", "vite.config.ts", "package.json", "tsconfig.json")
EXTRA = ("kindIcons.ts", "devCatalog.ts")


def environment() -> dict[str, str]:
    """Return a PATH with a recent `node`: the machine's own, else the one of the Python lock."""
    path = os.environ.get("PATH", os.defpath)
    bundled = str(places.VENV / "bin")
    if _system_is_new_enough():
        # The environment's folder comes last: its other commands may be needed, but not its `node`.
        return {"PATH": os.pathsep.join([path, bundled])}
    return {"PATH": os.pathsep.join([bundled, path])}


def _system_is_new_enough() -> bool:
    found = shutil.which("node")
    if found is None or shutil.which("npm") is None:
        return False
    try:
        shown = subprocess.run(
            [found, "--version"], capture_output=True, text=True, check=False, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    numbers = re.match(r"v(\d+)\.(\d+)", shown.stdout)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= OLDEST


def ensure_packages() -> None:
    """Install the packages of package-lock.json, unless they are installed."""
    if installed():
        return
    free = shutil.disk_usage(places.REPOSITORY).free
    if free < SPACE:
        raise Problem(
            f"{places.REPOSITORY} has {free / 1e9:.1f} GB left, and the page's packages need "
            f"{SPACE / 1e9:.1f} GB while they are installed. Free some space and try again."
        )
    echo("page: installing the locked packages (a minute the first time)")
    arguments = ("ci", "--no-audit", "--no-fund", "--loglevel=error")
    _npm("The packages of the page could not be installed", *arguments)
    generate_types()


def generate_types() -> None:
    """Write the types of the API, `frontend/src/schema.d.ts`, from `backend/openapi.json`."""
    arguments = ("run", "--silent", "generate", "--workspace", "codegen")
    _npm("The types of the API could not be generated", *arguments)


def _npm(problem: str, *arguments: str) -> None:
    done = subprocess.run(
        ["npm", *arguments], cwd=places.REPOSITORY, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise Problem(f"{problem}: {_why(done)}")


def installed() -> bool:
    """Return whether node_modules has every package of the lock in the locked version."""
    try:
        wanted = _packages(places.REPOSITORY / "package-lock.json")
        present = _packages(places.REPOSITORY / "node_modules" / ".package-lock.json")
    except (OSError, ValueError):
        return False
    return all(
        present.get(name, {}).get("version") == package.get("version")
        for name, package in wanted.items()
        if name.startswith("node_modules/")
        and not package.get("link")
        # Optional packages include binaries for other systems.
        and not package.get("optional")
    )


def build_page() -> Path:
    """The folder of the built page, rebuilt if a source has changed.

    MILLRACE_PAGE names a folder with a page that is already built.
    """
    given = os.environ.get("MILLRACE_PAGE")
    if given:
        return Path(given)
    folder = places.FRONTEND / "dist"
    stamp = folder / ".built-from"
    wanted = _sources()
    try:
        if stamp.read_text(encoding="utf-8") == wanted:
            return folder
    except OSError:
        pass
    ensure_packages()
    echo("page: building")
    arguments = ("run", "--silent", "build", "--workspace", "frontend")
    _npm("The page could not be built", *arguments)
    stamp.write_text(wanted, encoding="utf-8")
    return folder


def _sources() -> str:
    digest = hashlib.sha256()
    roots = [places.FRONTEND / name for name in (*SOURCES, *EXTRA)]
    roots.append(places.REPOSITORY / "package-lock.json")
    compiler = places.REPOSITORY / "compiler" / "millrace_compiler"
    # The catalog decides which icons the page has; the Chinese texts are in the compiler's folders.
    roots += [compiler / "catalog" / "catalog.json", *sorted(compiler.rglob("zh.json"))]
    for root in roots:
        files = (
            sorted(path for path in root.rglob("*") if path.is_file()) if root.is_dir() else [root]
        )
        for file in files:
            if file.exists() and ".test." not in file.name and not file.name.endswith(".d.ts"):
                digest.update(f"{file.relative_to(places.REPOSITORY)}\n".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()


def _packages(path: Path) -> dict[str, dict[str, object]]:
    packages: dict[str, dict[str, object]] = json.loads(path.read_text(encoding="utf-8"))[
        "packages"
    ]
    return packages


def _why(done: subprocess.CompletedProcess[str]) -> str:
    text = (done.stdout + done.stderr).strip()
    if re.search(r"ENOSPC|No space left", text):
        return "the disk is full. Free some space and try again."
    if re.search(r"ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENETUNREACH", text):
        return (
            "the package registry does not respond. Check the network. "
            "To use a mirror, set npm_config_registry."
        )
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    faults = [number for number, line in enumerate(lines) if re.search(r"(?i)error\b", line)]
    first = faults[0] if faults else max(0, len(lines) - 6)
    return " ".join(lines[first : first + 6])
