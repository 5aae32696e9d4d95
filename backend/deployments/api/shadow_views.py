"""Shadows: another version beside the one that runs, and the comparison of their outputs."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from millrace_backend.views import ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from deployments import comparing, shadows
from deployments.api import shadow_serializers as shapes
from deployments.api.views import deployment_of
from deployments.models import Deployment


def _shown(row: Deployment, status: int = 200) -> Response:
    return Response(shapes.ShadowSerializer(shadows.shadow_of(row)).data, status=status)


class ShadowView(ApiView):
    """The shadow of a deployment."""

    @extend_schema(responses={200: shapes.ShadowSerializer, 204: None}, operation_id="shadow_get")
    def get(self, request: Request, deployment: int) -> Response:
        """The version that runs beside it, and the last comparison; 204 if there is none."""
        row = deployment_of(self.person, deployment)
        return _shown(row) if shadows.has_shadow(row) else Response(status=204)

    @extend_schema(
        request=shapes.NewShadowSerializer,
        responses={201: shapes.ShadowSerializer},
        operation_id="shadow_create",
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Run another version on the same records (operator), with separate output topics.

        The running deployment is not changed. 409 if it has a shadow, or if there is not enough
        memory for another driver.
        """
        row = deployment_of(self.person, deployment)
        given = valid(shapes.NewShadowSerializer, request.data)
        shadows.create_shadow(self.person, row, given["version"], given["start"])
        return _shown(row, 201)


class EndShadowView(ApiView):
    """End a shadow."""

    @extend_schema(
        request=shapes.EndShadowSerializer, responses={202: None}, operation_id="shadow_end"
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Stop the shadow, then delete it with its state and its topics (operator)."""
        row = deployment_of(self.person, deployment)
        given = valid(shapes.EndShadowSerializer, request.data)
        shadows.end_shadow(self.person, row, given["name"])
        return Response(status=202)


class ComparisonView(ApiView):
    """A comparison of the outputs of a deployment and its shadow."""

    @extend_schema(
        request=None,
        responses={202: shapes.OutputComparisonSerializer},
        operation_id="shadow_compare",
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Compare what both have written for the same input offsets (operator).

        `GET` the shadow for progress and result. 409 while a comparison is running, or before
        both have written for the same records.
        """
        row = deployment_of(self.person, deployment)
        found = comparing.begin(self.person, row)
        return Response(shapes.OutputComparisonSerializer(found).data, status=202)

    @extend_schema(responses={204: None}, operation_id="shadow_compare_cancel")
    def delete(self, request: Request, deployment: int) -> Response:
        """Cancel a comparison (operator)."""
        comparing.cancel(self.person, deployment_of(self.person, deployment))
        return Response(status=204)
