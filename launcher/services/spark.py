"""A real standalone Spark cluster on this machine: one master, two workers (`up --cluster`)."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from launcher import ports
from launcher.console import Problem
from launcher.ports import HOST
from launcher.services import System
from launcher.supervisor import Ready, Running, Service

WORKERS = 2


def services(system: System) -> list[Service]:
    """Return the master and its workers; drivers reach them through SPARK_MASTER."""
    spark_class = str(_home() / "bin" / "spark-class")
    common = {
        **system.environment,
        "SPARK_HOME": str(_home()),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        # The submission server would accept jobs from anybody.
        "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
        "SPARK_NO_DAEMONIZE": "1",
    }
    master_port, page = system.ports["spark-master"], system.ports["spark-master-page"]
    address = f"spark://{HOST}:{master_port}"
    found = [
        Service(
            name="master",
            command=[
                spark_class,
                "org.apache.spark.deploy.master.Master",
                "--host",
                HOST,
                "--port",
                str(master_port),
                "--webui-port",
                str(page),
            ],
            ready=_listens(master_port),
            deadline=180,
            environment=common,
        )
    ]
    cores = max(1, (os.cpu_count() or 2) // WORKERS)
    for number in range(1, WORKERS + 1):
        name = f"worker-{number}"
        folder = system.data / "spark" / name
        folder.mkdir(parents=True, exist_ok=True)
        found.append(
            Service(
                name=f"spark-{name}",
                command=[
                    spark_class,
                    "org.apache.spark.deploy.worker.Worker",
                    address,
                    "--host",
                    HOST,
                    "--cores",
                    str(cores),
                    "--memory",
                    "1g",
                    "--work-dir",
                    str(folder),
                    "--webui-port",
                    "0",
                ],
                ready=_registered,
                needs=("master",),
                deadline=180,
                environment=common,
            )
        )
    return found


def _home() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise Problem("pyspark is not installed. Delete the folder .venv and try again.")
    return Path(spec.origin).parent


def _listens(port: int) -> Ready:
    async def ready(_running: Running) -> bool:
        return ports.answers(port)

    return ready


async def _registered(running: Running) -> bool:
    return running.printed("Successfully registered with master")
