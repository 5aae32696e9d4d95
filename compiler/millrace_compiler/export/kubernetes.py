"""Generates the manifests that run an exported job on Kubernetes, from a profile.

The driver is the only pod of a StatefulSet, so Kubernetes restarts it and never runs it twice.
Without executors, Spark runs in local mode inside this pod. With executors, the driver runs in
client mode: it creates a pod of the same image for each executor, and a headless service gives it
an address.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from millrace_compiler.connections import locations

Manifest = dict[str, object]

#: the user of the image, as in Spark's own
USER = 185
DRIVER_PORT, BLOCKS_PORT = 7078, 7079
#: memory for RocksDB, Python and the JVM itself, as a share of the heap, and its minimum
OVERHEAD, LEAST_OVERHEAD_MB = 0.4, 384
CHECKPOINT = "/checkpoint"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?")
_QUANTITY = re.compile(r"[1-9]\d*(Ki|Mi|Gi|Ti)")
_BROKERS = re.compile(r"[^\s,:]+:\d{1,5}(,[^\s,:]+:\d{1,5})*")


class ProfileError(ValueError):
    """A profile that cannot run; the message names the field."""


@dataclasses.dataclass(frozen=True)
class Profile:
    """Place and size of a job. `cores` and `memory_mb` are those of the pods that run the tasks.

    `executors`: number of pods beside the driver's; 0 runs the tasks in the driver. `checkpoint`: a
    URI; if empty, a volume of the size `volume` is created. `secret`: the name of a Secret whose
    entries become variables of all pods, for credentials of Kafka and of the checkpoint.
    """

    name: str
    image: str = ""
    namespace: str = "default"
    bootstrap_servers: str = "kafka:9092"
    cores: int = 2
    memory_mb: int = 1024
    executors: int = 0
    driver_memory_mb: int = 1024
    checkpoint: str = ""
    volume: str = "10Gi"
    storage_class: str = ""
    secret: str = ""
    #: more options of the job, such as `--real-time`
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises ProfileError."""
        for field in ("name", "namespace"):
            _require(_NAME, getattr(self, field), field, "lower-case letters, digits and hyphens")
        if self.secret:
            _require(_NAME, self.secret, "secret", "lower-case letters, digits and hyphens")
        _require(_BROKERS, self.bootstrap_servers, "bootstrap servers", "HOST:PORT[,HOST:PORT]")
        if self.checkpoint:
            problem = locations.problem_of_uri(self.checkpoint)
            if problem is not None:
                raise ProfileError(
                    f"The checkpoint of the profile {problem}. Use a URI such as "
                    "s3a://bucket/folder, without a user, a password or a query."
                )
        else:
            _require(_QUANTITY, self.volume, "volume", "a size such as 10Gi")
        if self.cores < 1 or not 0 <= self.executors <= 1_000:
            raise ProfileError("The profile needs at least 1 core and 0 to 1000 executors.")
        if min(self.memory_mb, self.driver_memory_mb) < 512:
            raise ProfileError("The memory of driver and executors is at least 512 MB.")

    @property
    def image_name(self) -> str:
        """The image of all pods."""
        return self.image or f"{self.name}:latest"


def _require(pattern: re.Pattern[str], found: str, field: str, needed: str) -> None:
    if not pattern.fullmatch(found):
        raise ProfileError(f"The {field} of the profile is “{found}”, but must be {needed}.")


def name_of(title: str) -> str:
    """A valid Kubernetes name, derived from the name of a topology."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:50].strip("-") or "topology"


def manifests(profile: Profile) -> list[Manifest]:
    """Everything that the job needs in its namespace, in the order in which it is created."""
    found = [_account(profile), *_rights(profile), _config(profile)]
    found += [*_executor_config(profile), _service(profile)]
    if not profile.checkpoint:
        found.append(_claim(profile))
    return [*found, _driver(profile)]


def text_of(found: Sequence[Manifest]) -> str:
    """The manifests as YAML; scalars are written as JSON, which YAML reads."""
    return "".join("---\n" + "\n".join(_lines(each)) + "\n" for each in found)


def _lines(value: Mapping[str, object] | Sequence[Any]) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            if isinstance(each, Mapping | list) and each:
                yield f"{_key(key)}:"
                yield from (f"  {line}" for line in _lines(each))
            else:
                yield f"{_key(key)}: {json.dumps(each, ensure_ascii=False)}"
        return
    for each in value:
        inner = list(_lines(each)) if isinstance(each, Mapping) else [json.dumps(each)]
        yield from (f"{'- ' if n == 0 else '  '}{line}" for n, line in enumerate(inner))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z][\w./-]*", name) else json.dumps(name)


def _labels(profile: Profile) -> dict[str, str]:
    return {"app.kubernetes.io/name": profile.name, "app.kubernetes.io/managed-by": "millrace"}


def _metadata(profile: Profile, suffix: str = "") -> dict[str, object]:
    return {
        "name": profile.name + suffix,
        "namespace": profile.namespace,
        "labels": _labels(profile),
    }


def _account(profile: Profile) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": _metadata(profile),
        # Processors run user code in these pods: only a driver that creates pods has a token.
        "automountServiceAccountToken": False,
    }


def _rights(profile: Profile) -> list[Manifest]:
    """The permissions of a driver with executors in its namespace."""
    if profile.executors == 0:
        return []
    group = "rbac.authorization.k8s.io"
    verbs = ["create", "get", "list", "watch", "patch", "delete", "deletecollection"]
    return [
        {
            "apiVersion": f"{group}/v1",
            "kind": "Role",
            "metadata": _metadata(profile),
            "rules": [
                {"apiGroups": [""], "resources": [each], "verbs": verbs}
                for each in ("pods", "configmaps", "persistentvolumeclaims")
            ],
        },
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": _metadata(profile),
            "roleRef": {"apiGroup": group, "kind": "Role", "name": profile.name},
            "subjects": [
                {
                    "kind": "ServiceAccount",
                    "name": profile.name,
                    "namespace": profile.namespace,
                }
            ],
        },
    ]


def _config(profile: Profile) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(profile),
        "data": {
            "KAFKA_BOOTSTRAP_SERVERS": profile.bootstrap_servers,
            "CHECKPOINT": profile.checkpoint or CHECKPOINT,
        },
    }


def _executor_config(profile: Profile) -> list[Manifest]:
    """The template of executor pods, for properties that Spark has no settings for."""
    if profile.executors == 0:
        return []
    template = json.dumps(executor_template(profile), indent=1)
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": _metadata(profile, "-executor"),
            "data": {"executor.json": template},
        }
    ]


def executor_template(profile: Profile) -> Manifest:
    """The template of an executor's pod, with the driver's restrictions and secrets."""
    container: Manifest = {
        "name": "executor",
        "envFrom": _secrets(profile),
        "securityContext": _CONFINED,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": _labels(profile)},
        "spec": {
            "automountServiceAccountToken": False,
            "securityContext": _POD_SECURITY,
            "containers": [container],
        },
    }


def _service(profile: Profile) -> Manifest:
    ports = [("driver", DRIVER_PORT), ("blocks", BLOCKS_PORT)]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(profile),
        "spec": {
            "clusterIP": "None",
            # Executors connect while the driver is still starting.
            "publishNotReadyAddresses": True,
            "selector": {**_labels(profile), "app.kubernetes.io/component": "driver"},
            "ports": [{"name": name, "port": port} for name, port in ports],
        },
    }


def _claim(profile: Profile) -> Manifest:
    # Executors on other machines write to the same volume.
    mode = "ReadWriteMany" if profile.executors else "ReadWriteOncePod"
    chosen = {"storageClassName": profile.storage_class} if profile.storage_class else {}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": _metadata(profile, "-checkpoint"),
        "spec": {
            "accessModes": [mode],
            **chosen,
            "resources": {"requests": {"storage": profile.volume}},
        },
    }


_POD_SECURITY = {
    "runAsNonRoot": True,
    "runAsUser": USER,
    "runAsGroup": USER,
    "fsGroup": USER,
    "seccompProfile": {"type": "RuntimeDefault"},
}
_CONFINED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def _driver(profile: Profile) -> Manifest:
    labels = {**_labels(profile), "app.kubernetes.io/component": "driver"}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": _metadata(profile),
        "spec": {
            "replicas": 1,
            "serviceName": profile.name,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _driver_pod(profile)},
        },
    }


def _driver_pod(profile: Profile) -> Manifest:
    alone = profile.executors == 0
    heap = profile.memory_mb if alone else profile.driver_memory_mb
    size = {
        "cpu": str(profile.cores if alone else 1),
        "memory": f"{heap + max(LEAST_OVERHEAD_MB, int(heap * OVERHEAD))}Mi",
    }
    container: Manifest = {
        "name": "driver",
        "image": profile.image_name,
        "args": ["driver", *_arguments(profile)],
        "envFrom": [
            {"configMapRef": {"name": profile.name}},
            *_secrets(profile),
        ],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "SPARK_LOCAL_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        ],
        "ports": [
            {"name": "driver", "containerPort": DRIVER_PORT},
            {"name": "blocks", "containerPort": BLOCKS_PORT},
        ],
        "resources": {"requests": size, "limits": {"memory": size["memory"]}},
        "securityContext": _CONFINED,
        "volumeMounts": [
            *_mounts(profile),
        ],
    }
    return {
        "serviceAccountName": profile.name,
        "automountServiceAccountToken": not alone,
        "securityContext": _POD_SECURITY,
        # Stopping waits for the end of the batch.
        "terminationGracePeriodSeconds": 60,
        "containers": [container],
        "volumes": _volumes(profile),
    }


def _secrets(profile: Profile) -> list[Manifest]:
    return [{"secretRef": {"name": profile.secret}}] if profile.secret else []


def _mounts(profile: Profile) -> list[Manifest]:
    found: list[Manifest] = []
    if not profile.checkpoint:
        found.append({"name": "checkpoint", "mountPath": CHECKPOINT})
    if profile.executors:
        found.append({"name": "executor", "mountPath": "/profile", "readOnly": True})
    return found


def _volumes(profile: Profile) -> list[Manifest]:
    found: list[Manifest] = []
    if not profile.checkpoint:
        claim = {"claimName": f"{profile.name}-checkpoint"}
        found.append({"name": "checkpoint", "persistentVolumeClaim": claim})
    if profile.executors:
        found.append({"name": "executor", "configMap": {"name": f"{profile.name}-executor"}})
    return found


def _arguments(profile: Profile) -> list[str]:
    found = [
        "--bootstrap-servers", "$(KAFKA_BOOTSTRAP_SERVERS)", "--checkpoint", "$(CHECKPOINT)",
        "--run", profile.name, *profile.options,
    ]  # fmt: skip
    if profile.executors == 0:
        settings = {"spark.driver.memory": f"{profile.memory_mb}m"}
        return [*found, "--master", f"local[{profile.cores}]", *_settings(settings)]
    return [
        *found, "--master", "k8s://https://kubernetes.default.svc",
        *_settings(spark_settings(profile)),
    ]  # fmt: skip


def spark_settings(profile: Profile) -> dict[str, str]:
    """Spark's settings for a driver that creates its executors as pods."""
    kubernetes = "spark.kubernetes"
    found = {
        "spark.driver.memory": f"{profile.driver_memory_mb}m",
        "spark.driver.host": f"{profile.name}.{profile.namespace}.svc",
        # Executors on Kubernetes connect to the address to which the driver is bound.
        "spark.driver.bindAddress": "$(SPARK_LOCAL_IP)",
        "spark.driver.port": str(DRIVER_PORT),
        "spark.driver.blockManager.port": str(BLOCKS_PORT),
        "spark.executor.instances": str(profile.executors),
        "spark.executor.cores": str(profile.cores),
        "spark.executor.memory": f"{profile.memory_mb}m",
        "spark.executor.memoryOverheadFactor": str(OVERHEAD),
        f"{kubernetes}.namespace": profile.namespace,
        f"{kubernetes}.container.image": profile.image_name,
        f"{kubernetes}.authenticate.caCertFile": f"{ACCOUNT}/ca.crt",
        f"{kubernetes}.authenticate.oauthTokenFile": f"{ACCOUNT}/token",
        f"{kubernetes}.authenticate.executor.serviceAccountName": profile.name,
        # The driver's pod owns the executors, so Kubernetes deletes them with it.
        f"{kubernetes}.driver.pod.name": "$(POD_NAME)",
        f"{kubernetes}.executor.podTemplateFile": "/profile/executor.json",
    }
    if not profile.checkpoint:
        volume = f"{kubernetes}.executor.volumes.persistentVolumeClaim.checkpoint"
        found[f"{volume}.options.claimName"] = f"{profile.name}-checkpoint"
        found[f"{volume}.mount.path"] = CHECKPOINT
    return found


def _settings(settings: Mapping[str, str]) -> list[str]:
    return [part for key in settings for part in ("--spark-config", f"{key}={settings[key]}")]
