"""Export of a version as a zip file that runs on Spark without Millrace, with its tests."""

from __future__ import annotations

import io
import json
import re
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from accounts.models import User
from django.conf import settings
from millrace_backend.environment import REPOSITORY
from millrace_backend.errors import ApiError
from millrace_compiler.export.bundle import MANIFESTS, RE2, package_files
from millrace_compiler.export.kubernetes import Profile, manifests, name_of, text_of

from topologies.compiling import bundled
from topologies.models import Topology, TopologyTest, Version

if TYPE_CHECKING:
    from millrace_compiler.compilation.compilation import Dialect

#: a fixed time in the archive, so that the same version yields the same bytes
FIXED_TIME = (1980, 1, 1, 0, 0, 0)

#: runs the tests in its folder, each in a file with the test's name
_TEST_MODULE = '''\
"""The tests of this topology."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from millrace_runtime import testing  # noqa: E402
from millrace_runtime.program import load_program  # noqa: E402


@pytest.fixture(scope="session")
def spark():
    session = testing.session()
    yield session
    session.stop()


@pytest.mark.parametrize("path", sorted(HERE.glob("*.json")), ids=lambda path: path.stem)
def test_topology(spark, path):
    found = testing.differences(spark, load_program(HERE.parent), testing.read_test(path))
    if found:
        pytest.fail("\\n".join(found), pytrace=False)
'''

#: the same for a plain program; the packages that run its tests are in their own folder
_PLAIN_TEST_MODULE = '''\
"""The tests of this topology."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "millrace"))

from millrace_runtime import testing  # noqa: E402


@pytest.fixture(scope="session")
def spark():
    session = testing.session()
    yield session
    session.stop()


@pytest.mark.parametrize("path", sorted(HERE.glob("*.json")), ids=lambda path: path.stem)
def test_topology(spark, path):
    found = testing.plain_differences(spark, HERE.parent, testing.read_test(path))
    if found:
        pytest.fail("\\n".join(found), pytrace=False)
'''

_PLAIN_TESTS_README = f"""
The folder `tests` has the tests of the topology, which need no Kafka. They compare the job with the
results of Kafka Streams, except where plain Spark is known to differ. The job does not need the
packages in `tests/millrace`, which run them:

```sh
.venv/bin/pip install pytest {RE2}
.venv/bin/python -m pytest tests
```
"""

_TESTS_README = """
The folder `tests` has the tests of the topology, which need no Kafka:

```sh
.venv/bin/pip install pytest
.venv/bin/python -m pytest tests
```
"""


def file_name(version: Version) -> str:
    """Return the name of the zip file, in characters that every file system accepts."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", version.topology.name).strip("-.") or "topology"
    return f"{safe}-v{version.number}.zip"


def export(version: Version, person: User, dialect: Dialect = "exact") -> bytes:
    """Return the zip file. Raises ApiError with the diagnostics if the version has errors."""
    with tempfile.TemporaryDirectory(prefix="millrace-export-") as folder:
        workspace = version.topology.workspace
        diagnostics = bundled(version.document, person, workspace, Path(folder), dialect)
        errors = [each for each in diagnostics if each["severity"] == "error"]
        if not errors:
            _add_tests(Path(folder), version.topology, dialect)
            if dialect == "exact":
                add_manifests(Path(folder), version.topology)
            return _zipped(Path(folder), file_name(version).removesuffix(".zip"))
    raise ApiError(
        "does_not_compile",
        f"Version {version.number} has {len(errors)} errors, so there is no code to export.",
        "Fix the problems listed in the diagnostics and save a new version.",
        diagnostics=diagnostics,
    )


def _add_tests(folder: Path, topology: Topology, dialect: Dialect) -> None:
    """Write the tests, what runs them and a section of the README, if there are any."""
    tests = list(topology.tests.order_by("pk"))
    if not tests:
        return
    (folder / "tests").mkdir()
    for name, text in test_files(tests).items():
        (folder / "tests" / name).write_text(text, "utf-8")
    exact = dialect == "exact"
    module = _TEST_MODULE if exact else _PLAIN_TEST_MODULE
    (folder / "tests" / "test_topology.py").write_text(module, "utf-8")
    readme = folder / "README.md"
    section = _TESTS_README if exact else _PLAIN_TESTS_README
    readme.write_text(readme.read_text("utf-8") + section, "utf-8")
    if not exact:
        _write_packages(folder / "tests" / "millrace")


def test_files(tests: Iterable[TopologyTest]) -> dict[str, str]:
    """Return a JSON file for each test, by name."""
    files: dict[str, str] = {}
    for test in tests:
        safe = re.sub(r"[^A-Za-z0-9_-]+", "-", test.name).strip("-").lower() or "test"
        name = f"{safe}-{test.pk}.json" if f"{safe}.json" in files else f"{safe}.json"
        content = {"title": test.name, "inputs": test.inputs, "expected": test.expected}
        files[name] = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    return files


def _write_packages(folder: Path) -> None:
    """Write the packages that run tests."""
    jar = settings.MILLRACE_OPERATOR_JAR
    files = package_files(REPOSITORY / "runtime", Path(jar) if jar else None)
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def add_manifests(folder: Path, topology: Topology) -> None:
    """Write the Kubernetes manifests of the job, with the size of the newest deployment."""
    deployment = topology.deployments.order_by("-pk").first()
    if deployment is None:
        return
    name, chosen = name_of(topology.name), deployment.settings
    sizes = {each: chosen[each] for each in ("cores", "memory_mb") if chosen.get(each)}
    options: list[str] = []
    if chosen.get("real_time_ms"):
        options = ["--real-time", f"{chosen['real_time_ms']} ms"]
    elif chosen.get("trigger_ms"):
        options = ["--trigger", f"{chosen['trigger_ms']} milliseconds"]
    # The checkpoint gets its own folder, because the deployment may be running.
    place = f"{chosen['checkpoint'].rstrip('/')}/{name}" if chosen.get("checkpoint") else ""
    profile = Profile(name, **sizes, checkpoint=place, options=tuple(options))
    (folder / MANIFESTS).write_text(text_of(manifests(profile)), "utf-8")


def _zipped(folder: Path, name: str) -> bytes:
    """Zip the files below a folder; the archive unpacks into a folder with this name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            entry = zipfile.ZipInfo(f"{name}/{path.relative_to(folder).as_posix()}", FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes())
    return out.getvalue()
