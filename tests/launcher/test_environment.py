"""The lock of the command that prepares the environment."""

from __future__ import annotations

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from launcher import places


@pytest.fixture
def command(tmp_path: Path) -> ModuleType:
    """The command `millrace` for a project in another folder."""
    loader = SourceFileLoader("millrace_command", str(places.REPOSITORY / "millrace"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    module.ROOT = tmp_path  # type: ignore[attr-defined]
    return module


def test_the_lock_is_in_the_project_where_nobody_else_can_put_a_link(
    command: ModuleType, tmp_path: Path
) -> None:
    with command.only_one():
        assert [each.name for each in tmp_path.iterdir()] == [".venv.lock"]
        assert (tmp_path / ".venv.lock").stat().st_mode & 0o777 == 0o600


def test_a_link_in_place_of_the_lock_is_refused_and_keeps_its_target(
    command: ModuleType, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    target.write_text("kept")
    (tmp_path / ".venv.lock").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"), command.only_one():
        pass
    assert target.read_text() == "kept"


@pytest.mark.parametrize("folder", ["backend", "cli", "compiler", "launcher", "runtime", "workers"])
def test_no_file_in_the_common_temporary_folder_has_a_predictable_name(folder: str) -> None:
    files = [places.REPOSITORY / "millrace", *(places.REPOSITORY / folder).rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    allowed = {
        # Spark's folder, in which mkdtemp creates another one.
        places.REPOSITORY / "runtime" / "millrace_runtime" / "session" / "session.py",
        # A folder that is used only if it belongs to this user and nobody else may enter it.
        places.REPOSITORY / "launcher" / "residents.py",
    }
    assert [
        path for path, text in texts.items() if "gettempdir" in text or '"/tmp' in text
    ] == sorted(allowed & texts.keys())
