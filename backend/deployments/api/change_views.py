"""Views that change what runs: another version, other settings, and their plans."""

from __future__ import annotations

from accounts.permissions import workspace_for
from drf_spectacular.utils import OpenApiParameter, extend_schema
from millrace_backend.views import ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from deployments import actions, promoting
from deployments.api import plan_serializers as plans
from deployments.api import serializers as shapes
from deployments.api.views import deployment_of, shown
from deployments.beginnings import Beginning
from deployments.rows import version_numbered, version_of
from deployments.state_plan import difference


class RedeployView(ApiView):
    """Deploy another version."""

    @extend_schema(
        request=plans.RedeploySerializer,
        responses=shapes.DeploymentSerializer,
        operation_id="deployment_redeploy",
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Deploy another version or other settings (operator); the old one runs until the new one
        is ready. 409 with the plan if a store needs a decision that is missing in ``stores``.
        """
        row = deployment_of(self.person, deployment)
        values = valid(plans.RedeploySerializer, request.data)
        actions.request_redeploy(
            self.person,
            row,
            values["version"],
            values.get("settings"),
            values.get("stores"),
            Beginning.of(values),
            values.get("name", ""),
        )
        return shown(row.pk)


class PlanView(ApiView):
    """What a redeploy would change."""

    @extend_schema(
        parameters=[
            OpenApiParameter("version", int, required=True, description="The version to deploy.")
        ],
        responses=plans.StatePlanSerializer,
        operation_id="deployment_plan",
    )
    def get(self, request: Request, deployment: int) -> Response:
        """Which stores are kept, migrated, incompatible, new or lost, and why; changes nothing."""
        row = deployment_of(self.person, deployment)
        given = valid(plans.PlanQuerySerializer, request.query_params)
        version = version_numbered(row.topology_id, given["version"])
        plan = actions.plan_redeploy(row, version)
        return Response(plans.StatePlanSerializer(plan).data)

    @extend_schema(
        request=plans.PlanRequestSerializer,
        responses=plans.StatePlanSerializer,
        operation_id="deployment_plan_start",
    )
    def post(self, request: Request, deployment: int) -> Response:
        """The plan of a start from another position, with its offsets and their effects, or of a
        document that is not saved; changes nothing. 503 if Kafka does not respond.
        """
        row = deployment_of(self.person, deployment)
        values = valid(plans.PlanRequestSerializer, request.data)
        if "document" in values:
            version = version_of(row, values["document"])
        else:
            version = version_numbered(row.topology_id, values["version"])
        plan = actions.plan_redeploy(row, version, Beginning.of(values), values.get("settings"))
        return Response(plans.StatePlanSerializer(plan).data)


class PromotionView(ApiView):
    """Promotion to another environment."""

    @extend_schema(
        parameters=[plans.PromotionQuerySerializer],
        responses=plans.PromotionSerializer,
        operation_id="deployment_promotion",
    )
    def get(self, request: Request, deployment: int) -> Response:
        """What a promotion would change: values of parameters, settings, and, if there is a
        deployment in that environment, the plan of its state. Changes nothing.
        """
        row = deployment_of(self.person, deployment)
        given = valid(plans.PromotionQuerySerializer, request.query_params)
        found = promoting.promotion(row, given["environment"])
        return Response(plans.PromotionSerializer(found).data)

    @extend_schema(
        request=plans.PromoteSerializer,
        responses={200: shapes.DeploymentSerializer, 201: shapes.DeploymentSerializer},
        operation_id="deployment_promote",
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Deploy this deployment's version in another environment (operator): in the deployment
        there (200), or in a new one (201). 409 with the plan as for a redeploy, and if both would
        write the same topics.
        """
        row = deployment_of(self.person, deployment)
        given = valid(plans.PromoteSerializer, request.data)
        there, created = promoting.promote(
            self.person, row, given["environment"], given.get("settings"), given.get("stores")
        )
        return shown(there.pk, 201 if created else 200)


class ScaleView(ApiView):
    """Change threads and memory."""

    @extend_schema(
        request=plans.ScaleSerializer,
        responses=shapes.DeploymentSerializer,
        operation_id="deployment_scale",
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Change threads and memory while it runs (operator), without losing state. A driver with
        the new settings takes over, as described by `handover` in the plan. 409 if it is not
        running.
        """
        row = deployment_of(self.person, deployment)
        given = valid(plans.ScaleSerializer, request.data)
        actions.request_scale(self.person, row, given)
        return shown(row.pk)


class StateChangesView(ApiView):
    """What documents do with the state of others."""

    throttle_scope = "compile"

    @extend_schema(
        request=plans.StateDifferencesRequestSerializer,
        responses=plans.StateDifferencesSerializer,
        operation_id="state_compare",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Return what happens to each store and source when a document replaces another, with
        the defaults of their parameters.
        """
        found = workspace_for(self.person, workspace)
        given = valid(plans.StateDifferencesRequestSerializer, request.data)
        return Response({"change": difference(given["old"], given["new"], found)})
