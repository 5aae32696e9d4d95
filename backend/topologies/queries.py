"""Queries that read topologies and everything shown about them, in a fixed number."""

from accounts.models import User
from accounts.permissions import visible
from deployments.choices import PROBLEMS, Observed, Shown
from deployments.models import Deployment
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce

from topologies.models import Draft, Topology


def whole(topologies: QuerySet[Topology], reader: User) -> QuerySet[Topology]:
    """Add the reader's draft, the deployment in brief, and the people."""
    own = Draft.objects.filter(topology=OuterRef("pk"), user=reader)
    return (
        topologies.select_related("workspace", "updated_by")
        .annotate(
            has_draft=Exists(own),
            shown_node_count=Coalesce(Subquery(own.values("node_count")[:1]), "node_count"),
            draft_description=Subquery(
                own.annotate(text=KT("document__description")).values("text")[:1]
            ),
        )
        .prefetch_related(
            Prefetch(
                "deployments",
                Deployment.objects.filter(is_shadow=False)
                .select_related("observation", "version")
                .defer("version__document"),
            )
        )
    )


def in_state(topologies: QuerySet[Topology], state: Shown) -> QuerySet[Topology]:
    """Return the topologies that have a deployment in one of these states, or none at all."""
    own = Deployment.objects.filter(topology=OuterRef("pk"), is_shadow=False)
    problem = Q(observation__state__in=PROBLEMS) | Q(observation__outage__isnull=False)
    stopped = Q(observation__state=Observed.STOPPED)
    return topologies.filter(
        {
            Shown.ACTIVE: Exists(own.exclude(stopped | Q(observation__state=Observed.FAILED))),
            Shown.PROBLEM: Exists(own.filter(problem)),
            Shown.STOPPED: Exists(own.filter(stopped)),
            Shown.NONE: ~Exists(own),
        }[state]
    )


def visible_topologies(reader: User) -> QuerySet[Topology]:
    """The topologies of all workspaces that the reader is a member of."""
    return visible(Topology.objects.select_related("workspace"), reader)
