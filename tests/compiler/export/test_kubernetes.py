"""The manifests of an exported job, validated against Kubernetes' own schemas."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from millrace_compiler import bundle_files
from millrace_compiler.export.image import ENTRYPOINT
from millrace_compiler.export.kubernetes import (
    Profile,
    ProfileError,
    executor_template,
    manifests,
    name_of,
    text_of,
)

from tests.compiler.kit import compiled, line, node

SCHEMAS = json.loads(Path(__file__).with_name("kubernetes_schemas.json").read_text("utf-8"))
GROUPS = {"v1": "core.v1", "apps/v1": "apps.v1", "rbac.authorization.k8s.io/v1": "rbac.v1"}
RUNTIME = Path(__file__).parents[3] / "runtime"
PROFILES = {
    "one pod, a volume": Profile("orders"),
    "one pod, a checkpoint in S3": Profile("orders", checkpoint="s3a://bucket/x", secret="keys"),
    "executors, a checkpoint in S3": Profile(
        "orders", executors=3, cores=4, memory_mb=8192, checkpoint="s3a://bucket/x", secret="keys"
    ),
    "executors, a volume": Profile("orders", executors=2, storage_class="shared", volume="1Ti"),
}


def validate(manifest: Any) -> None:
    """Raise ValidationError for an invalid manifest, including unknown fields."""
    kind = f"io.k8s.api.{GROUPS[manifest['apiVersion']]}.{manifest['kind']}"
    schema = {"$ref": f"#/$defs/{kind}", "$defs": SCHEMAS["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(manifest)


def by_kind(found: Any) -> dict[str, Any]:
    return {each["kind"]: each for each in reversed(found)}


def driver(found: Any) -> dict[str, Any]:
    container: dict[str, Any] = by_kind(found)["StatefulSet"]["spec"]["template"]["spec"]
    return container["containers"][0]  # type: ignore[no-any-return]


def settings(found: Any) -> dict[str, str]:
    """Spark's settings among the driver's arguments."""
    arguments = driver(found)["args"]
    given = [arguments[n + 1] for n, each in enumerate(arguments) if each == "--spark-config"]
    return dict(each.split("=", 1) for each in given)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_every_manifest_is_valid_and_read_from_yaml_as_it_was(profile: Profile) -> None:
    found = manifests(profile)
    for each in found:
        validate(each)
    validate({**executor_template(profile), "kind": "Pod"})
    assert list(yaml.safe_load_all(text_of(found))) == found


def test_a_field_that_does_not_exist_is_not_valid() -> None:
    wrong: Any = manifests(Profile("orders"))[0] | {"automountToken": False}
    with pytest.raises(jsonschema.ValidationError, match="automountToken"):
        validate(wrong)
    wrong = manifests(Profile("orders"))[-1]
    wrong["spec"]["replicas"] = "one"
    with pytest.raises(jsonschema.ValidationError):
        validate(wrong)


def test_without_executors_the_driver_has_the_cores_and_no_rights() -> None:
    found = manifests(Profile("orders", cores=4, memory_mb=2000))
    assert {each["kind"] for each in found} == {
        "ServiceAccount", "ConfigMap", "Service", "PersistentVolumeClaim", "StatefulSet",
    }  # fmt: skip
    pod = by_kind(found)["StatefulSet"]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert driver(found)["resources"]["requests"] == {"cpu": "4", "memory": "2800Mi"}
    assert "local[4]" in driver(found)["args"]
    assert settings(found) == {"spark.driver.memory": "2000m"}
    claim = by_kind(found)["PersistentVolumeClaim"]["spec"]
    assert claim["accessModes"] == ["ReadWriteOncePod"]


def test_executors_have_cores_and_memory_and_the_driver_creates_them() -> None:
    found = manifests(PROFILES["executors, a checkpoint in S3"])
    given = settings(found)
    assert given["spark.executor.instances"] == "3"
    assert given["spark.executor.cores"] == "4"
    assert given["spark.executor.memory"] == "8192m"
    assert given["spark.driver.host"] == "orders.default.svc"
    assert driver(found)["resources"]["requests"] == {"cpu": "1", "memory": "1433Mi"}
    assert by_kind(found)["Role"]["rules"][0]["resources"] == ["pods"]
    assert by_kind(found)["RoleBinding"]["subjects"][0]["name"] == "orders"
    whole: Any = found
    template = json.loads(whole[4]["data"]["executor.json"])
    assert template["spec"]["containers"][0]["envFrom"] == [{"secretRef": {"name": "keys"}}]


def test_a_checkpoint_in_s3_needs_a_secret_and_no_volume() -> None:
    found = manifests(PROFILES["one pod, a checkpoint in S3"])
    assert "PersistentVolumeClaim" not in by_kind(found)
    assert by_kind(found)["ConfigMap"]["data"]["CHECKPOINT"] == "s3a://bucket/x"
    assert {"secretRef": {"name": "keys"}} in driver(found)["envFrom"]


def test_executors_on_a_volume_mount_it_as_well() -> None:
    found = manifests(PROFILES["executors, a volume"])
    claim = by_kind(found)["PersistentVolumeClaim"]["spec"]
    assert (claim["accessModes"], claim["storageClassName"]) == (["ReadWriteMany"], "shared")
    volume = "spark.kubernetes.executor.volumes.persistentVolumeClaim.checkpoint"
    assert settings(found)[f"{volume}.options.claimName"] == "orders-checkpoint"
    assert settings(found)[f"{volume}.mount.path"] == "/checkpoint"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "Orders"}, "name"),
        ({"namespace": "-"}, "namespace"),
        ({"bootstrap_servers": "kafka"}, "HOST:PORT"),
        ({"checkpoint": "s3a://key:secret@bucket"}, "without a user"),
        ({"volume": "10 GB"}, "10Gi"),
        ({"cores": 0}, "1 core"),
        ({"executors": -1}, "executors"),
        ({"memory_mb": 100}, "512 MB"),
    ],
)
def test_a_profile_that_cannot_run_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        Profile(**{"name": "orders", **wrong})


def test_a_name_for_kubernetes_is_made_of_any_title() -> None:
    assert name_of("Purchases per hour") == "purchases-per-hour"
    assert name_of("每小时") == "topology"
    assert Profile(name_of("x" * 80)).name == "x" * 50


def test_a_bundle_has_the_manifests_and_the_entry_point_of_its_image() -> None:
    raw = line(node("keep", "filter", predicate="true"), name="Kept all")
    files = bundle_files(compiled(raw), RUNTIME)
    found = list(yaml.safe_load_all(files["kubernetes.yaml"]))
    for each in found:
        validate(each)
    assert found[0]["metadata"]["name"] == "kept-all"
    assert b"/job/entrypoint.sh" in files["Dockerfile"]
    chosen = bundle_files(compiled(raw), RUNTIME, profile=Profile("kept", executors=2))
    assert b"spark.executor.instances=2" in chosen["kubernetes.yaml"]


def test_the_entry_point_starts_the_job_or_an_executor(tmp_path: Path) -> None:
    script = tmp_path / "entrypoint.sh"
    script.write_text(ENTRYPOINT, "utf-8")
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text('#!/bin/sh\nfor each; do echo "$each"; done\n', "utf-8")
    java.chmod(0o755)
    known = {
        "PATH": "/usr/bin:/bin", "PYSPARK_PYTHON": str(java), "JAVA_HOME": str(tmp_path),
        "SPARK_HOME": "/opt/spark", "KAFKA_BOOTSTRAP_SERVERS": "b:9092", "CHECKPOINT": "/c",
        "SPARK_EXECUTOR_MEMORY": "8192m", "SPARK_JAVA_OPT_0": "-Da=1 2", "SPARK_JAVA_OPT_1": "-Db",
        "SPARK_DRIVER_URL": "spark://d", "SPARK_EXECUTOR_ID": "1", "SPARK_EXECUTOR_CORES": "4",
        "SPARK_APPLICATION_ID": "app", "SPARK_EXECUTOR_POD_IP": "10.0.0.1",
        "SPARK_RESOURCE_PROFILE_ID": "0", "SPARK_EXECUTOR_POD_NAME": "pod",
    }  # fmt: skip

    def run(*arguments: str) -> list[str]:
        done = subprocess.run(
            ["/bin/sh", str(script), *arguments], env=known, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        return done.stdout.splitlines()

    assert run("driver", "--master", "local[2]") == ["job.py", "--master", "local[2]"]
    assert run("--start", "latest") == [
        "job.py", "--bootstrap-servers", "b:9092", "--checkpoint", "/c", "--start", "latest",
    ]  # fmt: skip
    executor = run("executor")
    assert executor[:4] == ["-Xms8192m", "-Xmx8192m", "-Da=1 2", "-Db"]
    assert executor[executor.index("--podName") + 1] == "pod"
