"""The environment variables of a driver."""

from __future__ import annotations

from importlib.util import find_spec

from millrace_workers.launchers import host
from millrace_workers.launchers.environment import of_driver


def test_a_driver_may_ask_no_schema_registry_that_is_not_listed() -> None:
    listed = {"MILLRACE_SCHEMA_REGISTRIES": "https://schemas.example:8081"}
    assert of_driver({})["MILLRACE_SCHEMA_REGISTRIES"] == ""
    assert of_driver(listed)["MILLRACE_SCHEMA_REGISTRIES"] == "https://schemas.example:8081"


def test_a_driver_may_read_from_no_place_that_is_not_listed() -> None:
    assert of_driver({})["MILLRACE_READERS"] == ""
    assert of_driver({"MILLRACE_READERS": "/data"})["MILLRACE_READERS"] == "/data"


def test_a_driver_gets_no_secret_of_the_backend() -> None:
    secrets = {"DATABASE_URL": "postgresql://a:b@db/m", "REDIS_URL": "redis://:p@r", "OTHER": "1"}
    assert not secrets.keys() & of_driver(secrets).keys()


def test_credentials_of_s3_are_given_to_drivers_whose_checkpoint_is_there() -> None:
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_ENDPOINT_URL": "http://s3"}
    assert not keys.keys() & of_driver(keys, ["--checkpoint", "/data/x"]).keys()
    assert keys.items() <= of_driver(keys, ["--checkpoint", "s3a://bucket/x"]).items()


def test_the_modules_that_a_host_loads_before_its_drivers_exist() -> None:
    for name in host.MODULES:
        assert find_spec(name) is not None, name
