"""The files of an exported job: runnable with Spark and without Millrace."""

from __future__ import annotations

import json
from pathlib import Path

from millrace_compiler.compilation.compilation import Compilation
from millrace_compiler.documents.document import Document
from millrace_compiler.export import image
from millrace_compiler.export.kubernetes import Profile, manifests, name_of, text_of
from millrace_compiler.program.versions import CONNECTOR, SPARK
from millrace_compiler.state.state_schema import state_schema

PYSPARK = f"pyspark=={SPARK}"
#: Packages that Spark's transformWithState needs beside pyspark.
WITH_STATE = ("pandas>=2.2,<3", "pyarrow>=18", "protobuf>=6.33")
# Matches topic patterns in the compiler.
RE2 = "google-re2==1.1.20251105"
#: Exit codes of every job.
_EXITS = (
    "| exit code | meaning |",
    "|---|---|",
    "| 0 | stopped by SIGTERM or Ctrl-C, or done with `--available-now` |",
    "| 1 | failed |",
    "| 2 | invalid options, or a job that is refused |",
)
#: packages that runtime and compiler share
SHARED = ("millrace_model", "millrace_services")
SKIPPED = ("__pycache__", ".mypy_cache", ".ruff_cache", "build", "target")
MANIFESTS = "kubernetes.yaml"
OPERATOR = "millrace_runtime/operator/millrace-operator.jar"


def bundle_files(
    compilation: Compilation,
    runtime: Path,
    operator_jar: Path | None = None,
    profile: Profile | None = None,
) -> dict[str, bytes]:
    """Files by path. ``runtime`` is the package ``millrace_runtime`` or the folder that holds it.

    ``operator_jar`` is the compiled operator; without it the bundle contains the sources, which the
    job compiles at its first start. ``profile``: how the job runs on Kubernetes; by default in one
    pod. Raises :class:`Refused` for a refused document, and ``FileNotFoundError`` if ``runtime``
    does not contain the package.
    """
    code = compilation.require().code or {}
    files = {path: text.encode() for path, text in code.items()}
    spans: dict[str, list[object]] = {path: [] for path in code}
    for span in compilation.source_map:
        spans[span.path].append({"node": span.node, "start": span.start, "end": span.end})
    files["source_map.json"] = _json(spans)
    files["topology.json"] = _json(compilation.document.raw)
    files["state.json"] = _json(state_schema(compilation))
    plain = compilation.dialect == "plain"
    stateful = any(each.code == "plain_packages" for each in compilation.diagnostics)
    needed = [PYSPARK, *(() if plain else (RE2,)), *(WITH_STATE if stateful else ())]
    files["requirements.txt"] = "".join(f"{each}\n" for each in needed).encode()
    files["jars.txt"] = _jars(runtime).encode()
    if plain:  # A plain program runs without any package of Millrace.
        files["plan.json"] = _json({"between": list(compilation.between)})
        files["README.md"] = _plain_readme(compilation).encode()
        files["Dockerfile"] = image.PLAIN_DOCKERFILE.encode()
        files["entrypoint.sh"] = image.PLAIN_ENTRYPOINT.encode()
        return files
    files["plan.json"] = _json(compilation.plan_json())
    files["README.md"] = _readme(compilation).encode()
    files["Dockerfile"] = image.DOCKERFILE.encode()
    files["entrypoint.sh"] = image.ENTRYPOINT.encode()
    chosen = profile or Profile(name_of(compilation.document.name))
    files[MANIFESTS] = text_of(manifests(chosen)).encode()
    return files | package_files(runtime, operator_jar)


def package_files(runtime: Path, operator_jar: Path | None = None) -> dict[str, bytes]:
    """The packages that a program imports, by path; see `bundle_files` for the arguments."""
    files = _runtime(runtime, sources=operator_jar is None)
    compiler = Path(__file__).parents[1]
    files |= _package(compiler, "millrace_compiler")
    for name in SHARED:
        files |= _package(compiler.parent / name, name)
    if operator_jar is not None:
        files[OPERATOR] = operator_jar.read_bytes()
    return files


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace")


def _runtime(runtime: Path, *, sources: bool) -> dict[str, bytes]:
    if runtime.name == "millrace_runtime" and (runtime / "__init__.py").is_file():
        runtime = runtime.parent
    package = runtime / "millrace_runtime"
    if not package.is_dir():
        raise FileNotFoundError(f"There is no package millrace_runtime in {runtime}.")
    found: dict[str, bytes] = {}
    for folder, prefix in (
        (package, "millrace_runtime"),
        (runtime / "scala", "millrace_runtime/scala"),
    ):
        if folder.name == "scala" and not sources:
            continue
        found |= _package(folder, prefix)
    lock = runtime / "jars.lock"
    if lock.is_file():
        found["millrace_runtime/jars.lock"] = lock.read_bytes()
    return found


def _package(folder: Path, prefix: str) -> dict[str, bytes]:
    """The files of a package by their paths under a prefix."""
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part in SKIPPED for part in parts):
            found["/".join((prefix, *parts))] = path.read_bytes()
    return found


def _jars(runtime: Path) -> str:
    """Maven coordinates of the connector's jars, one per line, from ``jars.lock``."""
    folders = (runtime, runtime.parent)
    lock = next((f / "jars.lock" for f in folders if (f / "jars.lock").is_file()), None)
    if lock is None:
        return ""
    names, group = [], ""
    for line in lock.read_text("utf-8").splitlines():
        if line.startswith("["):
            group = line.strip("[] ")
        elif group == "connector" and line and not line.startswith("#"):
            names.append(line.split()[0])
    return "".join(f"{name}\n" for name in names)


_KNOWN = {
    "broker": "on the broker, at the time of the export",
    "declared": "declared by the topology; the broker's number counts when the job starts",
    "assumed": "assumed; the broker's number counts when the job starts",
}


def _partitions(compilation: Compilation) -> list[str]:
    """A line for each topic that is read, with its partitions and where their number is from."""
    found = compilation.topics_read(compilation.plan) if compilation.plan else []
    lines = []
    for topic in found:
        count = topic["partitions"]
        known = _KNOWN[str(topic["known"])]
        lines.append(f"- `{topic['name']}`: {count} partition{'' if count == 1 else 's'} ({known})")
    return lines or ["- no topic by name"]


def _titled(document: Document) -> list[str]:
    about = [document.description, ""] if document.description else []
    return [f"# {document.name}", "", *about]


def _plain_readme(compilation: Compilation) -> str:
    lines = [
        *_titled(compilation.document),
        "A PySpark job generated by Millrace, which imports nothing but pyspark. It needs Python",
        f"3.11, Java 17 or 21 and Spark {SPARK}. Its results differ from those of Kafka Streams as",
        "Millrace reports for this topology.",
        "",
        "```sh",
        "python -m venv .venv && .venv/bin/pip install -r requirements.txt",
        f".venv/bin/spark-submit --packages {CONNECTOR} job.py \\",
        "  --bootstrap-servers localhost:9092 --checkpoint ./checkpoint",
        "```",
        "",
        "The first start downloads the Kafka connector. Its newest published version is older than",
        f"Spark's: there is none for {SPARK}.",
        "",
    ]
    if compilation.between:
        topics = ", ".join(f"`{each}`" for each in compilation.between)
        lines += [
            f"Create these topics first, through which its queries pass records: {topics}.",
            "",
        ]
    lines += [
        "In a container, which takes the broker and the checkpoint from the variables",
        "KAFKA_BOOTSTRAP_SERVERS and CHECKPOINT:",
        "",
        "```sh",
        f"docker build -t REGISTRY/{name_of(compilation.document.name)} .",
        "```",
        "",
        *_EXITS,
        "",
        "After SIGTERM, it is 143 with `spark-submit` and with `--available-now`.",
        "",
        "| file | content |",
        "|---|---|",
        "| `job.py` | the job |",
        "| `jars.txt` | coordinates of the Kafka connector's jars |",
        "| `topology.json` | the document of the topology |",
        "| `plan.json` | the topics through which its queries pass records |",
        "| `state.json` | its stores with their types |",
        "| `source_map.json` | the node that each line of `job.py` belongs to |",
        "| `requirements.txt`, `Dockerfile`, `entrypoint.sh` | the environment of the job |",
        "",
    ]
    return "\n".join(lines)


def _readme(compilation: Compilation) -> str:
    plan = compilation.plan
    tasks = plan.tasks if plan else 1
    lines = [
        *_titled(compilation.document),
        "A PySpark job generated by Millrace. It needs Python 3.11, Java 17 or 21 and Spark 4.3;",
        "Millrace itself is not needed.",
        "",
        "```sh",
        "python -m venv .venv && .venv/bin/pip install -r requirements.txt",
        ".venv/bin/python job.py --bootstrap-servers localhost:9092 --checkpoint ./checkpoint",
        "```",
        "",
        "On a cluster, with this folder as working directory; the first command fetches the Kafka",
        "connector, checks its sha256, and puts it into the folder `jars` with the operator; for",
        "a checkpoint on `s3a://`, add `s3` to it:",
        "",
        "```sh",
        ". .venv/bin/activate",
        "python -m millrace_runtime.jars jars",
        "python -m zipfile -c millrace_runtime.zip millrace_runtime millrace_compiler \\",
        "  millrace_model millrace_services",
        "spark-submit --master spark://HOST:7077 --py-files millrace_runtime.zip \\",
        "  --jars $(ls jars/*.jar | paste -sd,) job.py \\",
        "  --bootstrap-servers HOST:9092 --checkpoint s3a://BUCKET/CHECKPOINT",
        "```",
        "",
        "On Kubernetes, with `image` in the manifests set to the image:",
        "",
        "```sh",
        f"docker build -t REGISTRY/{name_of(compilation.document.name)} .",
        f"kubectl apply -f {MANIFESTS}",
        "```",
        "",
        f"The widest sub-topology has {tasks} task{'' if tasks == 1 else 's'}, as many as its",
        "widest topic has partitions. The topics that are read:",
        "",
        *_partitions(compilation),
        "",
        *_EXITS,
        "| 3 | stopped by a record, because its handler is `fail` |",
        "",
        "| file | content |",
        "|---|---|",
        "| `job.py` | the job |",
        "| `millrace_runtime/` | the package that it imports, with the stream task operator |",
        "| `millrace_compiler/` | the package that computes its plan |",
        "| `millrace_model/` | the shapes of what both of them read and write |",
        "| `millrace_services/` | processes that answer requests |",
        "| `jars.txt` | coordinates of the Kafka connector's jars |",
        "| `topology.json` | the document of the topology |",
        "| `plan.json` | how it runs: sub-topologies, levels, tasks, repartition topics |",
        "| `state.json` | its stores with their types |",
        "| `source_map.json` | the node that each line of `job.py` belongs to |",
        "| `requirements.txt`, `Dockerfile`, `entrypoint.sh` | the environment of the job |",
        f"| `{MANIFESTS}` | manifests for Kubernetes |",
        "",
    ]
    return "\n".join(lines)
