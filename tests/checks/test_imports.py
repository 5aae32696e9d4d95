"""No module imports itself through others, not even for types or inside a function."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Any

import grimp
import pytest

from launcher import places


def root_packages() -> list[str]:
    import tomllib

    with (places.REPOSITORY / "pyproject.toml").open("rb") as file:
        settings: dict[str, Any] = tomllib.load(file)["tool"]["importlinter"]
    packages: list[str] = settings["root_packages"]
    return packages


def test_imports_have_no_circle() -> None:
    graph = grimp.build_graph(*root_packages(), cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))
