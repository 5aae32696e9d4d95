"""Loads deployments with everything that is shown of them, in a fixed number of queries."""

from django.db.models import Prefetch, QuerySet

from deployments.models import Deployment, Run


def whole(deployments: QuerySet[Deployment]) -> QuerySet[Deployment]:
    """Load topology, version number, observation, author and the live run as well."""
    return (
        deployments.select_related(
            "topology", "observation", "created_by", "version", "schedule__author"
        )
        .defer("version__document")
        .prefetch_related(
            Prefetch(
                "runs",
                Run.objects.filter(ended_at__isnull=True)
                .select_related("version")
                .defer("version__document"),
            )
        )
    )
