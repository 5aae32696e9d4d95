"""`compile` and `describe`: a job or a description from a document."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from millrace_compiler import (
    bundle_files,
    compile_document,
    describe,
)
from millrace_compiler.export.kubernetes import Profile, ProfileError, name_of
from millrace_compiler.program.versions import CONNECTOR
from millrace_runtime.errors import MillraceError
from millrace_runtime.jars import PACKAGE, operator_jar

from cli.documents import analyzer, read_document, show_diagnostics


def compile_command(arguments: argparse.Namespace) -> int:
    """Write the job; exit code 2 and diagnostics for a document that is refused."""
    document = read_document(
        arguments.document, arguments.environment, fragments=True, parameters=True
    )
    with analyzer() as known:
        compilation = compile_document(
            document, known, real_time=arguments.real_time, dialect=arguments.dialect
        )
    diagnostics = [each.to_json() for each in compilation.diagnostics]
    if not compilation.ok:
        show_diagnostics(diagnostics, as_json=arguments.json)
        return 2
    if diagnostics:
        show_diagnostics(diagnostics, as_json=arguments.json)
    folder = Path(arguments.output)
    try:
        profile = profile_of(arguments, compilation.document.name)
    except ProfileError as error:
        raise MillraceError("option_invalid", str(error)) from None
    files = bundle_files(compilation, PACKAGE, operator_jar(), profile)
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    exact = arguments.dialect == "exact"
    command = "python" if exact else f"spark-submit --packages {CONNECTOR}"
    print(f"{folder / 'job.py'}: run it with `{command} job.py --bootstrap-servers HOST:PORT`")
    return 0


def profile_of(arguments: argparse.Namespace, title: str) -> Profile:
    """Return the profile of the job on Kubernetes. Raises ProfileError."""
    fields = {field.name for field in dataclasses.fields(Profile)}
    given = {name: value for name, value in vars(arguments).items() if name in fields}
    chosen = {name: value for name, value in given.items() if value not in ("", None)}
    return Profile(**{"name": name_of(title), **chosen})


def describe_command(arguments: argparse.Namespace) -> int:
    """Print the output of Topology#describe. Raises Refused for a document that is refused."""
    document = read_document(arguments.document, arguments.environment, fragments=True)
    with analyzer() as known:
        description = describe(document, known)
    if arguments.json:
        described = description.to_json(guarantees=arguments.guarantees)
        print(json.dumps(described, ensure_ascii=False, indent=2))
    else:
        print(description.text)
        if arguments.guarantees:
            print(description.promises)
    return 0
