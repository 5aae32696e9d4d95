"""The only code that changes topologies, versions and drafts."""

from __future__ import annotations

from accounts.choices import Role
from accounts.events import audit
from accounts.models import Membership, User, Workspace
from accounts.permissions import require, require_installation_admin
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone
from millrace_backend.errors import ApiError, Conflict, NotFound
from millrace_backend.quotas import require_room
from millrace_model.documents import TopologyDocument

from topologies.events import draft_changed, topology_changed, topology_deleted, version_created
from topologies.fragments import note_uses, require_unused
from topologies.git.binding import folder_deleted, version_saved
from topologies.models import Draft, Topology, Version, empty_document, hash_of, size_of


def create_topology(
    actor: User,
    workspace: Workspace,
    name: str,
    document: TopologyDocument | None = None,
    *,
    description: str = "",
    message: str = "",
    fragment: bool = False,
) -> Topology:
    """Create a topology, or a fragment; a document becomes its first version.

    Raises Conflict for a name that the workspace already has, and if a quota is reached.
    """
    require(actor, workspace.pk, Role.EDITOR)
    with _unique_name(name), transaction.atomic():
        # Requests that create topologies at the same time are serialized.
        Workspace.objects.select_for_update().get(pk=workspace.pk)
        require_room("topologies", workspace.topologies.count())
        topology = Topology.objects.create(
            workspace=workspace,
            name=name,
            description=description,
            is_fragment=fragment,
            created_by=actor,
            updated_by=actor,
            updated_at=timezone.now(),
        )
        audit(
            actor, workspace.pk, "topology.create", "topology", topology.pk, name=name,
            **({"fragment": True} if fragment else {}),
        )  # fmt: skip
        if document is not None:
            _append(actor, topology, document, message)
        topology_changed(topology, actor)
    return topology


def update_topology(
    actor: User, topology: Topology, name: str | None = None, description: str | None = None
) -> None:
    """Change name or description. Raises Conflict for a name that the workspace already has.

    Also for a new name of a fragment that is used, because its users name it.
    """
    require(actor, topology.workspace_id, Role.EDITOR)
    if topology.is_fragment and name not in (None, topology.name):
        require_unused(topology, "renamed")
    with _unique_name(name or topology.name), transaction.atomic():
        topology.name = topology.name if name is None else name
        topology.description = topology.description if description is None else description
        topology.updated_by, topology.updated_at = actor, timezone.now()
        topology.save(update_fields=["name", "description", "updated_by", "updated_at"])
        audit(
            actor,
            topology.workspace_id,
            "topology.update",
            "topology",
            topology.pk,
            name=topology.name,
            description=topology.description,
        )
        topology_changed(topology, actor)


def delete_topology(actor: User, topology: Topology, *, used: bool = False) -> None:
    """Delete a topology with its versions, drafts and inactive deployment; stop its generators.

    Raises Conflict while the deployment is running, and for a fragment that is used unless `used`;
    Forbidden if a deployment would be deleted, or a generator stopped, and the actor is not an
    operator.
    """
    from deployments.preconditions import refuse_while_followed, refuse_while_it_runs
    from deployments.rows import forget
    from records.generators import stop_generator

    require(actor, topology.workspace_id, Role.EDITOR)
    with transaction.atomic():
        Topology.objects.select_for_update().filter(pk=topology.pk).first()
        if topology.is_fragment and not used:
            require_unused(topology, "deleted")
        for deployment in topology.deployments.select_related("topology", "observation"):
            require(actor, topology.workspace_id, Role.OPERATOR)
            refuse_while_followed(deployment)
            refuse_while_it_runs(deployment)
            forget(deployment)
        for generator in topology.generators.filter(state="running"):
            stop_generator(actor, generator)
        audit(
            actor,
            topology.workspace_id,
            "topology.delete",
            "topology",
            topology.pk,
            name=topology.name,
        )
        topology_deleted(topology, actor)
        folder_deleted(actor, topology)
        topology.delete()


def save_draft(
    actor: User,
    topology: Topology,
    document: TopologyDocument,
    base_version: int | None,
    revision: str | None = None,
) -> Draft | None:
    """Save the actor's private draft.

    Return None if the document equals its base version: the actor then has no draft. Raises
    ApiError for a base version that does not exist, and Conflict if the draft to replace has
    another revision because another window of the actor wrote it.
    """
    require(actor, topology.workspace_id, Role.EDITOR)
    _check_base(topology, base_version)
    with transaction.atomic():
        Topology.objects.select_for_update().get(pk=topology.pk)
        before = Draft.objects.filter(topology=topology, user=actor).first()
        draft = Draft(
            pk=before.pk if before else None,
            topology=topology,
            user=actor,
            document=document,
            size=size_of(document),
            node_count=len(document["nodes"]),
            base_version=base_version,
            updated_at=timezone.now(),
        )
        if before and before.revision not in {revision, draft.revision}:
            raise _draft_conflict(before, document)
        if hash_of(document) == _hash_of_base(topology, base_version):
            discard_draft(actor, topology)
            return None
        _require_room_for(draft, before)
        draft.save()
        if before is None:
            audit(
                actor, topology.workspace_id, "draft.begin", "topology", topology.pk,
                topology=topology.name,
            )  # fmt: skip
        draft_changed(draft, actor)
    return draft


def discard_draft(actor: User, topology: Topology) -> None:
    """Delete the actor's own draft, if there is one."""
    require(actor, topology.workspace_id, Role.EDITOR)
    with transaction.atomic():
        deleted, _ = Draft.objects.filter(topology=topology, user=actor).delete()
        if deleted:
            audit(
                actor, topology.workspace_id, "draft.discard", "topology", topology.pk,
                topology=topology.name,
            )  # fmt: skip
            topology_changed(topology, actor)


def drafts_of(user: User) -> QuerySet[Draft]:
    """Return a user's drafts, the last changed first, also in workspaces that they have left."""
    rows = Draft.objects.filter(user=user).select_related("topology__workspace", "user")
    return rows.order_by("-updated_at", "-id")


def abandoned_drafts() -> QuerySet[Draft]:
    """Return drafts that their users cannot open, as closed accounts or non-members; oldest first.

    A person may become a member again.
    """
    member = Membership.objects.filter(
        user=OuterRef("user"), workspace=OuterRef("topology__workspace")
    )
    rows = Draft.objects.filter(Q(user__is_active=False) | ~Exists(member))
    return rows.select_related("topology__workspace", "user").order_by("updated_at", "id")


def delete_draft(actor: User, draft: Draft) -> None:
    """Delete one of the actor's own drafts, or as the installation's admin an abandoned one.

    Raises NotFound for any other draft.
    """
    own = draft.user_id == actor.pk
    if not own:
        require_installation_admin(actor)
        if not abandoned_drafts().filter(pk=draft.pk).exists():
            raise NotFound("not_found", f"There is no abandoned draft {draft.pk}.")
    with transaction.atomic():
        deleted, _ = Draft.objects.filter(pk=draft.pk).delete()
        if deleted:
            audit(
                actor, draft.topology.workspace_id, "draft.discard", "topology", draft.topology_id,
                topology=draft.topology.name, user=draft.user.username,
            )  # fmt: skip
            if own:
                topology_changed(draft.topology, actor)


def save_version(
    actor: User,
    topology: Topology,
    document: TopologyDocument,
    message: str,
    base_version: int | None,
    draft_revision: str | None = None,
    *,
    keep_draft: bool = False,
) -> Version:
    """Save a version on top of its base version, and delete the actor's draft.

    A draft with another revision than the stated one is kept: another window of the actor wrote it.
    ``keep_draft``: also any other, because the version is not the actor's drawing.
    Raises Conflict, with both sides, if another version was saved in the meantime.
    """
    require(actor, topology.workspace_id, Role.EDITOR)
    _check_base(topology, base_version)
    with transaction.atomic():
        current = Topology.objects.select_for_update().get(pk=topology.pk)
        if current.latest_number != (base_version or 0):
            raise _conflict(current, base_version, document)
        version = _append(actor, current, document, message)
        draft = Draft.objects.filter(topology=topology, user=actor).first()
        if draft and not keep_draft and draft_revision in {None, draft.revision}:
            draft.delete()
    return version


def name_version(actor: User, version: Version, name: str) -> None:
    """Give a version a name; an empty one removes it."""
    require(actor, version.topology.workspace_id, Role.EDITOR)
    with transaction.atomic():
        Version.objects.filter(pk=version.pk).update(name=name)
        version.name = name
        audit(
            actor,
            version.topology.workspace_id,
            "version.name",
            "topology",
            version.topology_id,
            topology=version.topology.name,
            number=version.number,
            name=name,
        )


def _append(actor: User, topology: Topology, document: TopologyDocument, message: str) -> Version:
    before = topology.versions.filter(number=topology.latest_number).first()
    described = document.get("description", "")
    if isinstance(described, str) and described != (
        before.document.get("description", "") if before else ""
    ):
        topology.description = described
    version = Version(
        topology=topology,
        number=topology.latest_number + 1,
        document=document,
        message=message,
        author=actor,
    )
    require_room("versions", topology.versions.count())
    _require_megabytes("versions_mb", Version, topology, size_of(document))
    version.save()
    topology.latest_number = version.number
    topology.node_count = len(document["nodes"])
    topology.updated_by, topology.updated_at = actor, timezone.now()
    topology.save(
        update_fields=["latest_number", "node_count", "description", "updated_by", "updated_at"]
    )
    note_uses(topology, document)
    audit(
        actor,
        topology.workspace_id,
        "version.create",
        "topology",
        topology.pk,
        topology=topology.name,
        number=version.number,
        message=message,
        hash=version.hash,
    )
    version_created(version, actor)
    version_saved(topology.workspace_id)
    return version


def _require_room_for(draft: Draft, before: Draft | None) -> None:
    """Raise Conflict if a quota does not allow a draft in place of the one before."""
    topology = draft.topology
    if before is None:
        own = Draft.objects.filter(user=draft.user, topology__workspace=topology.workspace_id)
        require_room("drafts", own.count())
    replaced = 0 if before is None else before.size
    if draft.size > replaced:
        _require_megabytes("drafts_mb", Draft, topology, draft.size - replaced)


def _require_megabytes(
    quota: str, kind: type[Version | Draft], topology: Topology, adding: int
) -> None:
    rows = kind.objects.filter(topology__workspace=topology.workspace_id)
    require_room(quota, rows.aggregate(Sum("size"))["size__sum"] or 0, adding)


def _check_base(topology: Topology, base_version: int | None) -> None:
    if base_version is not None and not topology.versions.filter(number=base_version).exists():
        raise ApiError(
            "no_such_version",
            f"The base version {base_version} does not exist.",
            "Send the number of the version that the document is based on, or null if there is "
            "none.",
            fields={"base_version": [f"There is no version {base_version}."]},
        )


def _hash_of_base(topology: Topology, base_version: int | None) -> str:
    if base_version is None:
        return hash_of(empty_document(topology.name))
    return topology.versions.values_list("hash", flat=True).get(number=base_version)


def _draft_conflict(draft: Draft, yours: TopologyDocument) -> Conflict:
    from topologies.api.serializers import DraftSerializer

    return Conflict(
        "draft_conflict",
        "This draft was changed in another window.",
        "Use that draft, or send its revision to replace it.",
        theirs=DraftSerializer(draft).data,
        yours=yours,
    )


def _conflict(topology: Topology, base: int | None, yours: TopologyDocument) -> Conflict:
    from topologies.api.serializers import VersionSerializer

    numbers = [topology.latest_number] if base is None else [topology.latest_number, base]
    found = {
        version.number: version
        for version in topology.versions.select_related("author").filter(number__in=numbers)
    }
    theirs = found[topology.latest_number]
    author = theirs.author.shown_name if theirs.author else "Somebody"
    return Conflict(
        "version_conflict",
        f"{author} saved version {theirs.number} while you worked on "
        f"{'a first version' if base is None else f'version {base}'}.",
        "Merge both sides and save on top of theirs.",
        base=None if base is None else VersionSerializer(found[base]).data,
        theirs=VersionSerializer(theirs).data,
        yours=yours,
    )


class _unique_name:  # noqa: N801  (a context manager, read as a word)
    """Converts the database's error for a duplicate name of a topology into a Conflict."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        # Only the text names the constraint: SQLite reports it nowhere else.
        if isinstance(error, IntegrityError) and "one_name_per_workspace" in str(error):
            raise Conflict(
                "name_taken",
                f"This workspace already has a topology named “{self._name}”.",
                "Choose another name.",
                fields={"name": ["This name is taken."]},
            ) from error
