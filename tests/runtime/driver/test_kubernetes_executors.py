"""A driver with executor pods: Spark's own Kubernetes client, and the image's entry point.

Instead of a cluster, an API server of the test runs pods as processes on this machine.
"""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from millrace_compiler.export.kubernetes import Profile, executor_template, spark_settings, text_of
from millrace_runtime.jars import java

from tests.compiler.export.test_kubernetes import validate
from tests.runtime import topics
from tests.runtime.drivers import ROOT, kill, started
from tests.runtime.kubelet import Kubelet, serving

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.long]

PROFILE = Profile("word-count", executors=2, cores=1, memory_mb=512, driver_memory_mb=512)


@pytest.fixture
def kubelet(tmp_path: Path) -> Kubelet:
    image = {
        "PATH": os.environ["PATH"],
        "JAVA_HOME": str(Path(java()).resolve().parents[1]),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(str(ROOT / each) for each in ("compiler", "runtime")),
    }
    (tmp_path / "pods").mkdir()
    return Kubelet(tmp_path / "pods", image, "driver-0", validate)


@pytest.fixture
def server(kubelet: Kubelet) -> Iterator[str]:
    with serving(kubelet) as address:
        yield address


def settings(folder: Path) -> list[str]:
    """Return the manifests' settings, except those that need a cluster: tokens, names, claims."""
    template = folder / "executor.json"
    template.write_text(text_of([executor_template(PROFILE)]), "utf-8")
    left_out = ("spark.kubernetes.authenticate.", "spark.kubernetes.executor.volumes.")
    found = {
        key: value
        for key, value in spark_settings(PROFILE).items()
        if not key.startswith(left_out) and not key.endswith((".port", "spark.driver.host"))
    }
    found |= {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.kubernetes.driver.pod.name": "driver-0",
        "spark.kubernetes.executor.podTemplateFile": str(template),
        # Without watches, the state of pods is polled.
        "spark.kubernetes.executor.enableApiWatcher": "false",
        "spark.kubernetes.executor.apiPollingInterval": "1s",
    }
    return [part for key in found for part in ("--spark-config", f"{key}={found[key]}")]


def test_executors_are_pods_and_one_that_is_lost_is_replaced(
    kubelet: Kubelet, server: str, broker: Any, tmp_path: Path
) -> None:
    source, target = (f"{name}-{uuid.uuid4()}" for name in ("lines", "counts"))
    topics.create(broker.address, {source: 4, target: 1})
    driver = started(
        "word_count_job.py", source, target, "--master", f"k8s://{server}", *settings(tmp_path),
        address=broker.address, checkpoint=tmp_path / "checkpoint",
    )  # fmt: skip

    def counted(number: int) -> None:
        topics.produce(broker.address, source, [{"value": "word", "timestamp": number}])
        found = topics.consume(broker.address, target, number, seconds=300)
        counts = [int.from_bytes(record.value(), "big") for record in found]
        printed = "" if counts[-1:] == [number] else kill(driver)[-3000:] + kubelet.logs()
        assert counts[-1:] == [number], printed

    try:
        counted(1)
        assert kubelet.invalid == []
        # The driver used only what the manifests' role allows.
        assert {path for _, path in kubelet.asked} <= {
            f"/api/v1/namespaces/default/{kind}"
            for kind in ("pods", "configmaps", "persistentvolumeclaims")
        }
        pods = [pod for name, pod in kubelet.pods.items() if name != "driver-0"]
        container = pods[0]["spec"]["containers"][0]
        assert container["image"] == "word-count:latest"
        assert pods[0]["metadata"]["name"].startswith("word-count-")
        address = {"name": "SPARK_DRIVER_URL"}.items()
        [driver_url] = [each["value"] for each in container["env"] if address <= each.items()]
        assert driver_url.startswith("spark://CoarseGrainedScheduler@127.0.0.1:")
        assert container["resources"]["requests"]["cpu"] == "1"
        assert container["resources"]["limits"]["memory"] == "896Mi"
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert pods[0]["metadata"]["ownerReferences"][0]["name"] == "driver-0"
        before = kubelet.executors
        for name in before:
            kubelet.end(name)
        deadline = time.monotonic() + 120
        while not kubelet.executors:
            assert time.monotonic() < deadline, kubelet.logs()
            time.sleep(0.5)
        counted(2)
        assert not set(before) & set(kubelet.executors)
    finally:
        kill(driver)
