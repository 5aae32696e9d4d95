"""The record at which a deployment failed."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from millrace_backend.views import ApiView
from rest_framework.request import Request
from rest_framework.response import Response

from deployments.api import serializers as shapes
from deployments.api.views import deployment_of, shown
from deployments.choices import RecordDecision
from deployments.failed_records import decide_record


class FailedRecordView(ApiView):
    """Have it run without this record."""

    @extend_schema(
        request=shapes.RecordDecisionSerializer,
        responses=shapes.DeploymentSerializer,
        operation_id="deployment_failed_record",
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Skip the record, or make a dead letter of it, once, and start again (operator).

        Everything else that the batch makes is written exactly as often as without the failure. 409
        for another record than that of the failure.
        """
        row = deployment_of(self.person, deployment)
        given = shapes.RecordDecisionSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        values = dict(given.validated_data)
        decision = RecordDecision(values.pop("decision"))
        decide_record(self.person, row, decision, **values)
        return shown(row.pk)
