"""From the wheel alone to the canvas and back, in an empty virtual environment.

./millrace test tests/e2e/test_wheel_journey.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from millrace_runtime.jars import operator_jar
from playwright.sync_api import Page, expect

from launcher import java
from launcher.wheel import build
from tests.e2e.designer import Designer
from tests.e2e.system import System
from tests.packages import wheel_of
from tests.runtime import topics

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

#: what the wheel and pytest require
PACKAGES = (
    *("pyspark", "py4j", "google-re2", "psutil"),
    *("pytest", "iniconfig", "packaging", "pluggy", "pygments"),
)
KEPT = ("LANG", "TMPDIR", "MILLRACE_CACHE", "MILLRACE_JARS", "MILLRACE_JAR_MIRROR")
PROGRAM = """
from millrace_runtime import (
    Stream, Topology, fragment, json, key_value_store, long, parameter, stream_input, string
)


@fragment("Large", inputs={"in": stream_input(value="STRUCT<item: STRING, n: INT>")},
          parameters={"low": parameter(10)})
def large(orders: Stream, low: str) -> Stream:
    return orders.filter(f"value.n >= {low}", name="keep")


topology = Topology("wheel-shop")
orders = topology.stream("wheel-orders", key=string(), value=json("item STRING, n INT"))
# Items of large orders
items = large(orders, name="large").group_by(lambda value: value["item"].upper())
items.count(store=key_value_store("items"), name="count").to_stream().to(
    "wheel-items", value=long(), name="out"
)

if __name__ == "__main__":
    topology.main()
"""
TEST = """
from job import topology


def test_large_orders_are_counted(topology_test_driver):
    driver = topology_test_driver(topology)
    orders = driver.input_topic("wheel-orders")
    for item, n in (("tea", 10), ("tea", 9), ("tea", 20), ("cup", 11)):
        orders.pipe_input("a", {"item": item, "n": n})
    assert driver.output_topic("wheel-items").read_key_values() == RESULTS
    assert dict(driver.store("items").all()) == dict(RESULTS)
"""
FIRST = "[('TEA', 1), ('TEA', 2), ('CUP', 1)]"
CHANGED = "[('TEA', 1)]"

Shell = Callable[..., str]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A function that runs a command of the virtual environment, with nothing else on its path."""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= java.environment()
    environment |= {
        "PATH": os.pathsep.join([str(tmp_path / "venv" / "bin"), "/usr/bin", "/bin"]),
        "HOME": str(tmp_path),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "wheels"),
        "PIP_NO_COMPILE": "1",
        "MILLRACE_RESIDENT": "0",
    }
    (tmp_path / "shop").mkdir()

    def run(*command: str, code: int = 0) -> str:
        done = subprocess.run(
            command, cwd=tmp_path / "shop", env=environment, capture_output=True, text=True,
            timeout=600, check=False,
        )  # fmt: skip
        printed = done.stdout + done.stderr
        assert done.returncode == code, printed[-4000:]
        return printed

    return run


def test_a_program_goes_from_the_wheel_to_the_canvas_and_back(
    shell: Shell, system: System, page: Page, tmp_path: Path
) -> None:
    """Install, write, test with pytest, run on a broker, open, change on the canvas, take back."""
    shop = tmp_path / "shop"
    install(shell, tmp_path)
    assert not any(each.name.startswith("millrace") for each in shop.iterdir())

    (shop / "job.py").write_text(PROGRAM, "utf-8")
    (shop / "test_job.py").write_text(f"RESULTS = {FIRST}\n{TEST}", "utf-8")
    assert "1 passed" in shell("python", "-m", "pytest", "-q")
    (shop / "test_job.py").write_text(f"RESULTS = {CHANGED}\n{TEST}", "utf-8")
    assert "1 failed" in shell("python", "-m", "pytest", "-q", code=1)

    broker = system.bootstrap_servers
    topics.create(broker, {"wheel-orders": 1, "wheel-items": 1})
    orders = [("tea", 10), ("tea", 9), ("tea", 20), ("cup", 11)]
    topics.produce(
        broker, "wheel-orders",
        [{"key": "a", "value": f'{{"item": "{item}", "n": {n}}}'} for item, n in orders],
    )  # fmt: skip
    shell("millrace", "run", "job.py", "--bootstrap-servers", broker, "--checkpoint", "kept",
"--available-now")  # fmt: skip
    found = topics.consume(broker, "wheel-items", 3)
    assert [each.key() for each in found] == [b"TEA", b"TEA", b"CUP"]
    assert [int.from_bytes(each.value()) for each in found] == [1, 2, 1]

    page.get_by_test_id("empty-canvas").or_(page.get_by_test_id("new-topology")).first.click()
    page.locator("input[type=file]").set_input_files(shop / "job.py")
    expect(page.get_by_test_id("topology-name")).to_have_value("wheel-shop")
    page.get_by_test_id("create-topology").click()
    designer = Designer(page)
    assert set(designer.nodes()) == {"wheel-orders", "large", "count", "items", "to-stream", "out"}
    expect(designer.node("count")).to_contain_text("Items of large orders")
    designer.select("large")
    low = designer.field("arguments.low").locator("input")
    low.fill("20")
    low.press("Enter")
    designer.save("Larger")

    designer.open_panel("Code")
    with page.expect_download() as waiting:
        page.get_by_test_id("export-zip").click()
    zipped = tmp_path / "exported.zip"
    waiting.value.save_as(zipped)
    with zipfile.ZipFile(zipped) as archive:
        [job] = [name for name in archive.namelist() if name.count("/") == 1 and "job.py" in name]
        (shop / "job.py").write_bytes(archive.read(job))
    text = (shop / "job.py").read_text("utf-8")
    assert "def large(" in text
    assert 'arguments={"low": 20}' in text
    assert "1 passed" in shell("python", "-m", "pytest", "-q")


def install(shell: Shell, folder: Path) -> None:
    """Install the built wheel with pip, and from wheels what it requires."""
    (folder / "wheels").mkdir()
    for name in PACKAGES:
        wheel_of(name, folder / "wheels")
    made = build(folder / "dist", operator_jar())
    # The interpreter without the packages that are installed for Millrace.
    shell(getattr(sys, "_base_executable", sys.executable), "-m", "venv", str(folder / "venv"))
    shell("python", "-m", "pip", "install", "-q", str(made), "pytest")
