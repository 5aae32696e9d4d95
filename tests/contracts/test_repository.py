"""Promises about the repository as a whole: locks without addresses, files without machines."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib

import pytest

from launcher import jars, places


def committed() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=places.REPOSITORY, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("this copy of the project is no git repository")
    return listed.stdout.splitlines()


def test_the_python_lock_has_a_hash_for_every_package_and_no_address() -> None:
    text = (places.REPOSITORY / "requirements.lock").read_text(encoding="utf-8")
    packages = re.split(r"\n(?=\S)", text.strip())
    assert len(packages) > 50
    for package in packages:
        assert re.match(r"[a-z0-9-]+==\S+", package), package.splitlines()[0]
        assert "--hash=sha256:" in package, package.splitlines()[0]
    assert "://" not in text


def test_every_wanted_python_package_has_a_reason_and_is_locked() -> None:
    text = (places.REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    described = tomllib.loads(text)
    wanted = [*described["project"]["dependencies"]]
    wanted += [name for group in described["dependency-groups"].values() for name in group]
    assert len(wanted) > 40
    locked = (places.REPOSITORY / "requirements.lock").read_text(encoding="utf-8")
    for requirement in wanted:
        assert re.search(rf'"{re.escape(requirement)}", +# \w', text), (
            f"{requirement} has no reason"
        )
        found = re.match(r"[a-z0-9-]+", requirement)
        assert found, requirement
        assert re.search(rf"^{found.group()}==", locked, re.MULTILINE), requirement


def test_the_lock_of_the_page_has_integrity_and_no_registry() -> None:
    lock = json.loads((places.REPOSITORY / "package-lock.json").read_text(encoding="utf-8"))
    outside = {name: p for name, p in lock["packages"].items() if name.startswith("node_modules/")}
    for name, package in outside.items():
        if not package.get("link"):
            assert "integrity" in package, name
            assert "resolved" not in package, name


def test_every_jar_has_a_sha256_and_every_root_is_in_its_group() -> None:
    locked = {(jar.group, jar.coordinates) for jar in jars.read_lock()}
    for group, (roots, _) in jars.ROOTS.items():
        for root in roots:
            assert (group, root) in locked


def test_no_committed_file_names_a_folder_of_one_machine() -> None:
    suspicious = re.compile(r"(?<![\w.])/(?:root|home/\w+|Users/\w+)/")
    for name in committed():
        path = places.REPOSITORY / name
        if path.suffix in {".svg", ".png", ".woff2"} or not path.is_file():
            continue
        found = suspicious.search(path.read_text(encoding="utf-8", errors="replace"))
        assert not found, f"{name}: {found.group(0) if found else ''}"


def test_continuous_integration_runs_the_projects_own_command() -> None:
    text = (places.REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert "./millrace test" in text


def test_every_yes_of_the_comparison_names_a_test() -> None:
    text = (places.REPOSITORY / "docs" / "comparison.md").read_text(encoding="utf-8")
    offered, proved = text.split("## Limits and tests")
    named = re.findall(r"`(test_\w+|frontend/\S+)`", proved)
    sources = [path for path in committed() if path.startswith("tests/") and path.endswith(".py")]
    tests = "".join((places.REPOSITORY / path).read_text("utf-8") for path in sources)
    for name in named:
        known = (places.REPOSITORY / name).is_file() or f"def {name}(" in tests
        assert known, name
    claimed = set(re.findall(r"^\| ([^|]+?) \| (?:yes|partly) \|", offered, re.MULTILINE))
    shown = set(re.findall(r"^\| ([^|]+?) \|[^|]*\| `", proved, re.MULTILINE))
    assert len(claimed) > 10
    assert claimed <= shown
