"""docker-compose.yml agrees with the code, as far as this can be checked without an engine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from millrace_compiler.connections import kafka_clients

from launcher import places
from launcher.services import broker

#: services that run our own code
OURS = (
    "backend", "setup", "worker", "beat", "backend-analyzer", "worker-analyzer",
    "generators",
    "simulator", "store-reader",
)  # fmt: skip
READ_BY_US = re.compile(r"environ(?:\.get\(|\[)\s*\"([A-Z_]+)\"")
#: variables that Java, Spark and Python read
OTHERS = {
    *("SPARK_MASTER_OPTS", "SPARK_DAEMON_MEMORY"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_REGION"),
}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    text = (places.REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.safe_load(text)
    return content


def test_every_dependency_is_a_service_and_can_fulfil_its_condition(
    compose: dict[str, Any],
) -> None:
    services = compose["services"]
    for name, service in services.items():
        for need, how in service.get("depends_on", {}).items():
            assert need in services, f"{name} depends on {need}, which is not there"
            if how["condition"] == "service_healthy":
                assert "healthcheck" in services[need], f"{name} waits for the health of {need}"
            if how["condition"] == "service_completed_successfully":
                assert services[need].get("restart") == "no", f"{need} would never complete"
        network = service.get("network_mode", "")
        if network.startswith("service:"):
            assert network.removeprefix("service:") in services


def test_no_container_can_change_its_image_or_take_all_memory(compose: dict[str, Any]) -> None:
    needed = {"postgres", "redis"}
    for name, service in compose["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert re.search(r"\d+g", service["mem_limit"]), name
        assert bool(service.get("cap_add")) == (name in needed), name
        writable = [*service.get("tmpfs", []), *service.get("volumes", [])]
        assert any(each.split(":")[-1] == "/tmp" for each in writable), name


def test_every_named_volume_is_declared_and_used(compose: dict[str, Any]) -> None:
    used = {
        volume.partition(":")[0]
        for service in compose["services"].values()
        for volume in service.get("volumes", [])
        if not volume.startswith("/")
    }
    assert used == set(compose["volumes"])


def test_every_setting_given_to_our_services_is_read_by_our_code(compose: dict[str, Any]) -> None:
    rooms = ("backend", "workers", "runtime", "compiler", "launcher")
    read = set(OTHERS)
    for room in rooms:
        for file in (places.REPOSITORY / room).rglob("*.py"):
            read |= set(READ_BY_US.findall(file.read_text(encoding="utf-8")))
    for name in (*OURS, "spark-master", "spark-worker"):
        for variable in compose["services"][name]["environment"]:
            known = variable in read or kafka_clients.settings({variable: "given"})
            assert known, f"{name} is given {variable}, which nothing reads"


def test_what_workers_cannot_do_without_is_given_to_them(compose: dict[str, Any]) -> None:
    configuration = places.REPOSITORY / "workers" / "millrace_workers" / "configuration.py"
    demanded = set(
        re.findall(r"environ\[\"([A-Z_]+)\"\]", configuration.read_text(encoding="utf-8"))
    )
    assert demanded
    assert demanded <= set(compose["services"]["worker"]["environment"])


def test_every_address_names_a_service_and_its_port(compose: dict[str, Any]) -> None:
    environment = compose["services"]["worker"]["environment"]
    hosts = {
        "DATABASE_URL": ("postgres", "5432"),
        "REDIS_URL": ("redis", "6379"),
        "KAFKA_BOOTSTRAP_SERVERS": ("kafka", "9092"),
        "SPARK_MASTER": ("spark-master", "7077"),
    }
    for variable, (host, port) in hosts.items():
        assert host in compose["services"]
        address = re.sub(r"\$\{[A-Z_]+:-(.*)\}", r"\1", environment[variable])
        assert re.search(rf"(^|[@/]){host}:{port}(/|$)", address), variable


#: local services, with the setting of their clients
LOCAL = {
    "backend-analyzer": "MILLRACE_ANALYZER",
    "worker-analyzer": "MILLRACE_ANALYZER",
    "simulator": "MILLRACE_SIMULATOR",
    "store-reader": "MILLRACE_STORE_READER",
}


def mounted(service: dict[str, Any]) -> dict[str, str]:
    """The volumes of a service by the folder at which they are mounted."""
    named = (each.split(":") for each in service.get("volumes", []) if ":" in each)
    return {place: name for name, place, *_ in named}


def test_a_local_service_and_its_client_share_the_volume_of_the_socket(
    compose: dict[str, Any],
) -> None:
    for name, setting in LOCAL.items():
        service = compose["services"][name]
        assert compose["x-app"]["environment"][setting] == service["command"][-1]
        folder = str(Path(service["command"][-1]).parent)
        volume = mounted(service)[folder]
        clients = [
            other
            for other, each in compose["services"].items()
            if other != name and volume in mounted(each).values()
        ]
        assert clients, f"nobody can reach {name}"
        for client in clients:
            assert mounted(compose["services"][client])[folder] == volume
            assert setting in compose["services"][client]["environment"]


def test_the_simulator_shares_nothing_with_the_store_reader(compose: dict[str, Any]) -> None:
    simulator, reader = (compose["services"][name] for name in ("simulator", "store-reader"))
    assert not set(mounted(simulator).values()) & set(mounted(reader).values())
    # No network at all, and no container whose network it could be part of.
    assert (simulator["network_mode"], simulator["environment"]) == ("none", {})
    assert reader["networks"] == ["storage"]
    assert [
        name for name, each in compose["services"].items() if "storage" in each.get("networks", [])
    ] == ["store-reader"]


def test_the_broker_on_a_server_is_the_version_that_is_embedded(compose: dict[str, Any]) -> None:
    (jar,) = (root for root in _roots() if root.startswith("org.apache.kafka:kafka_2.13:"))
    assert compose["services"]["kafka"]["image"] == f"apache/kafka:{jar.rsplit(':', 1)[1]}"


def test_no_password_is_written_in_the_file(compose: dict[str, Any]) -> None:
    text = (places.REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")
    for line in text.splitlines():
        if re.search(r"PASSWORD\w*:", line):
            assert "${" in line, line
    example = (places.REPOSITORY / ".env.example").read_text(encoding="utf-8")
    assert re.search(r"^POSTGRES_PASSWORD=$", example, re.MULTILINE)
    wanted = set(re.findall(r"\$\{([A-Z_]+)", text))
    assert wanted == set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE))


def test_every_module_that_is_started_exists(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        command = service.get("command", [])
        if isinstance(command, list) and command[:2] == ["python", "-m"]:
            path = places.REPOSITORY / Path("runtime", *command[2].split("."))
            assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), path
        elif isinstance(command, list) and command[:1] == ["python"]:
            assert (places.REPOSITORY / command[1]).exists(), command[1]


def _roots() -> tuple[str, ...]:
    from launcher import jars

    assert broker.PROPERTIES
    return jars.ROOTS["broker"][0]
