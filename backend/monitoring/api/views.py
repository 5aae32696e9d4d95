"""Views of a deployment's figures and placements over time."""

from __future__ import annotations

from datetime import timedelta

from deployments.api.views import deployment_of
from django.db.models import Q
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from millrace_backend.schema import paged
from millrace_backend.searching import SEARCH_PARAMETER
from millrace_backend.views import PAGE_PARAMETERS, ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from monitoring import queries
from monitoring.api import serializers as shapes
from monitoring.choices import Figure, Range


class FiguresView(ApiView):
    """Figures over the last minutes, hours or days."""

    @extend_schema(
        parameters=[shapes.FiguresQuerySerializer],
        responses=shapes.FiguresSerializer,
        operation_id="deployment_figures",
    )
    def get(self, request: Request, deployment: int) -> Response:
        """One figure over time, in intervals of ten seconds, a minute or a quarter of an hour."""
        row = deployment_of(self.person, deployment)
        values = valid(shapes.FiguresQuerySerializer, request.query_params)
        found = queries.chart(
            row, Figure(values["figure"]), Range(values["range"]), values.get("name") or []
        )
        return Response(shapes.FiguresSerializer(found).data)


class PlacementsView(ApiView):
    """Moves of tasks."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER, shapes.PlacementsQuerySerializer],
        responses=paged(shapes.PlacementSerializer),
        operation_id="deployment_placements",
    )
    def get(self, request: Request, deployment: int) -> Response:
        """One page of where tasks ran within a range, the last move first."""
        row = deployment_of(self.person, deployment)
        given = valid(shapes.PlacementsQuerySerializer, request.query_params)
        seconds, _ = queries.RANGES[Range(given["range"])]
        begin = timezone.now() - timedelta(seconds=seconds)
        rows = row.placements.filter(Q(until__isnull=True) | Q(until__gte=begin))
        names = ["task", "executor", "host", "thread", "reason"]
        return self.page(rows, shapes.PlacementSerializer, search=names)
