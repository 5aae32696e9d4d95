"""What was seen of a deployment over time."""

from __future__ import annotations

from deployments.api.views import deployment_of
from drf_spectacular.utils import extend_schema
from millrace_backend.views import ApiView
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
        """One figure; of intervals of ten seconds, a minute or a quarter of an hour."""
        row = deployment_of(self.person, deployment)
        given = shapes.FiguresQuerySerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        values = given.validated_data
        found = queries.chart(
            row, Figure(values["figure"]), Range(values["range"]), values.get("name") or []
        )
        return Response(shapes.FiguresSerializer(found).data)
