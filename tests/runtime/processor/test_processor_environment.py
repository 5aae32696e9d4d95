"""The variables of its driver's environment that a processor sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from launcher import places

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SECRETS = {
    "DATABASE_URL": "postgresql://me:s3cret@db/millrace",
    "REDIS_URL": "redis://:s3cret@127.0.0.1:6379/0",
    "MILLRACE_REGISTRY_PASSWORDS": '{"https://schemas.example": "me:s3cret"}',
    "MILLRACE_KAFKA_sasl_jaas_config": "s3cret",
    "AWS_SECRET_ACCESS_KEY": "s3cret",
    "SOMETHING_NEW": "s3cret",
}
USEFUL = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "NO_PROXY": "localhost",
    "SSL_CERT_FILE": "/certificates.pem",
}
STRING = {"format": "string"}
CODE = """
import json, os
class Reads(Processor):
    def init(self, context):
        self.context = context
    def process(self, record):
        self.context.forward(record.replace(value=json.dumps(dict(os.environ))))
"""
DOCUMENT = {
    "format": "millrace.topology/1",
    "name": "environment",
    "nodes": [
        {"id": "in", "kind": "source.stream",
         "params": {"topics": ["in"], "key": STRING, "value": STRING}},
        {"id": "reads", "kind": "process",
         "params": {"code": CODE, "class_name": "Reads",
                    "output": {"key": "STRING", "value": "STRING"}}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
    ],
    "edges": [{"source": "in", "target": "reads"}, {"source": "reads", "target": "out"}],
}  # fmt: skip


def test_a_processor_gets_a_listed_part_of_the_environment(tmp_path: Path) -> None:
    document, inputs = tmp_path / "document.json", tmp_path / "inputs.jsonl"
    document.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    inputs.write_text('{"topic": "in", "key": "k", "value": "v", "timestamp": 1}\n', "utf-8")
    own = {name: os.environ[name] for name in ("PATH", "HOME")}
    needed = {
        name: os.environ[name] for name in ("JAVA_HOME", "MILLRACE_CACHE") if name in os.environ
    }
    done = subprocess.run(
        [sys.executable, "-m", "cli", "simulate", str(document), "--inputs", str(inputs)],
        cwd=places.REPOSITORY,
        env={
            **own, **needed, **USEFUL, **SECRETS,
            "PYTHONPATH": os.pathsep.join(places.PYTHON_PATH),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )  # fmt: skip
    output = json.loads(done.stdout)
    found = json.loads(output["value"])
    assert found.items() >= (USEFUL | own).items()
    assert found.keys() == {*USEFUL, *own, "PYTHONPATH", "PYTHONHASHSEED"}
    assert "s3cret" not in output["value"]
