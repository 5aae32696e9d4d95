"""The backend's entry point to the compiler, which runs in separate processes.

Documents come from people: compiling one may take long or need much memory, by mistake or on
purpose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from accounts.choices import Role
from accounts.models import User, Workspace
from accounts.permissions import role_in
from accounts.topics import allows
from django.conf import settings
from millrace_backend import kafka
from millrace_backend.environment import REPOSITORY
from millrace_backend.errors import Unavailable
from millrace_compiler.compilation.compilation import Dialect
from millrace_compiler.isolated import Limits, Pool
from millrace_compiler.types.types import DataType
from millrace_model.diagnostics import DiagnosticJson
from millrace_model.documents import Format, TopologyDocument
from millrace_model.plans import CompilationJson
from millrace_model.scenarios import Conditioned
from millrace_model.state import StateSchema

from topologies.models import Version, hash_of

#: higher, because an export is requested once and not with every change
EXPORT = Limits(seconds=20)
#: long enough for a registry that does not respond to time out
REGISTRIES = Limits(seconds=12)

#: whether this process compiles by itself, without waiting for the start of a compiler process
_here = False


@cache
def pool() -> Pool:
    """Return the pool of compiler processes, which all threads share."""
    if not _here:
        return Pool()
    # The compiler itself is loaded at its first use.
    from millrace_compiler.isolated.here import CompilerHere

    return CompilerHere()


def compile_here() -> None:
    """Compile in this process, which has one thread and ends after one command."""
    global _here  # noqa: PLW0603 - a process compiles in one way
    _here = True
    pool.cache_clear()


def analyzer() -> str:
    """Return the path of the analyzer's socket. Raises Unavailable if none is configured."""
    if not settings.MILLRACE_ANALYZER:
        raise Unavailable(
            "analyzer_unreachable",
            "No analyzer is configured, so expressions cannot be checked.",
            "Start Millrace with `./millrace up`, or set MILLRACE_ANALYZER to the socket of a "
            "running analyzer.",
        )
    return str(settings.MILLRACE_ANALYZER)


def compiled(
    document: TopologyDocument,
    person: User,
    workspace: Workspace,
    dialect: Dialect = "exact",
    conditions: Sequence[Conditioned] = (),
) -> CompilationJson:
    """Return the response of the compile endpoint, without its revision.

    `conditions` are those of a test. For a viewer's document that is not a saved version, no schema
    registry is queried. An analyzer that does not respond and an exceeded limit are diagnostics.
    Raises Unavailable if no analyzer is configured.
    """
    saved = Version.objects.filter(topology__workspace=workspace, hash=hash_of(document))
    return pool().compile(
        document,
        analyzer(),
        owner=str(person.pk),
        dialect=dialect,
        registries=_is_editor(person, workspace) or saved.exists(),
        conditions=conditions,
        partitions=partitions_for(workspace),
    )


def partitions_for(workspace: Workspace) -> dict[str, int]:
    """Return the known partitions of topics on the broker that the workspace may use."""
    prefixes = workspace.topic_prefixes
    known = kafka.known_partitions()
    return {name: count for name, count in known.items() if allows(prefixes, name)}


def types_of_formats(
    formats: Mapping[str, Format], person: User, workspace: Workspace
) -> tuple[dict[str, DataType], list[DiagnosticJson]]:
    """Return the types of formats of a document by name, and diagnostics.

    A format with an error has no type. Registries are queried only for editors.
    """
    return pool().types(
        formats,
        owner=str(person.pk),
        registries=_is_editor(person, workspace),
        limits=REGISTRIES,
    )


def _is_editor(person: User, workspace: Workspace) -> bool:
    role = role_in(person, workspace.pk)
    return role is not None and role.allows(Role.EDITOR)


def bundled(
    document: TopologyDocument,
    person: User,
    workspace: Workspace,
    directory: Path,
    dialect: Dialect = "exact",
) -> list[DiagnosticJson]:
    """Write the files of the job into a folder and return the diagnostics.

    If they contain an error, nothing is written. Raises Unavailable if no analyzer is configured.
    """
    jar = settings.MILLRACE_OPERATOR_JAR
    runtime = REPOSITORY / "runtime"
    return pool().bundle(
        document,
        analyzer(),
        directory,
        runtime,
        jar,
        owner=str(person.pk),
        dialect=dialect,
        partitions=partitions_for(workspace),
        limits=EXPORT,
    )


def state_of(
    document: TopologyDocument, workspace: Workspace, dialect: Dialect = "exact"
) -> tuple[StateSchema | None, list[DiagnosticJson]]:
    """Return the schema of the job's state (None for a document with errors), and the diagnostics.

    Raises Unavailable if no analyzer is configured.
    """
    owner = f"workspace {workspace.pk}"
    return pool().state(document, analyzer(), owner=owner, dialect=dialect, limits=EXPORT)
