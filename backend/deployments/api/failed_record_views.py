"""The record at which a deployment failed."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from millrace_backend.views import ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from deployments.api import serializers as shapes
from deployments.api.views import deployment_of, shown
from deployments.choices import RecordDecision
from deployments.failed_records import decide_record, remove_decision


class FailedRecordView(ApiView):
    """Run without this record."""

    @extend_schema(
        request=shapes.RecordDecisionSerializer,
        responses=shapes.DeploymentSerializer,
        operation_id="deployment_failed_record",
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Skip the record or send it to the dead letter topic, once, and restart (operator). All
        other results of the batch are written as often as without the failure. 409 for any
        record other than that of the failure.
        """
        row = deployment_of(self.person, deployment)
        values = valid(shapes.RecordDecisionSerializer, request.data)
        decision = RecordDecision(values.pop("decision"))
        decide_record(self.person, row, decision, **values)
        return shown(row.pk)


class RecordDecisionView(ApiView):
    """A decision about one record."""

    @extend_schema(
        responses={200: shapes.DeploymentSerializer}, operation_id="record_decision_remove"
    )
    def delete(
        self, request: Request, deployment: int, topic: str, partition: int, offset: int
    ) -> Response:
        """Remove a decision that applies but was not used yet (operator). It takes effect when the
        deployment starts again. 409 if the deployment has already read past the record.
        """
        row = deployment_of(self.person, deployment)
        remove_decision(self.person, row, topic, partition, offset)
        return shown(row.pk)
