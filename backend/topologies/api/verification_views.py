"""Views for comparisons with Kafka Streams."""

from __future__ import annotations

from typing import Any

from accounts.permissions import workspace_for
from drf_spectacular.utils import extend_schema
from millrace_backend.schema import CauseSerializer
from millrace_backend.shapes import ShapeSerializer
from millrace_backend.views import ApiView, valid
from millrace_model.scenarios import Verification
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from topologies import verifying
from topologies.api.fields import DocumentField
from topologies.choices import VerificationState, VerificationStep
from topologies.simulating import MOST_INPUTS


class VerificationRequestSerializer(serializers.Serializer[Any]):
    """A document, saved or not, and the input lines of a simulation."""

    document = DocumentField()
    inputs = serializers.ListField(child=serializers.JSONField(), max_length=MOST_INPUTS)


class VerificationSerializer(ShapeSerializer):
    """The progress of a comparison, and the differences."""

    shape = Verification
    absent = ("workspace",)
    choices = {"state": VerificationState, "doing": VerificationStep}

    error = CauseSerializer(allow_null=True, help_text="Why it could not be compared.")


class VerificationsView(ApiView):
    """Comparisons of documents with Kafka Streams."""

    throttle_scope = "simulate"

    @extend_schema(
        request=VerificationRequestSerializer,
        responses={202: VerificationSerializer},
        operation_id="verification_start",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Compare a document's results with those of Kafka Streams (roles as for simulations)."""
        found = workspace_for(self.person, workspace)
        values = valid(VerificationRequestSerializer, request.data)
        begun = verifying.begin(self.person, found, values["document"], values["inputs"])
        return Response(VerificationSerializer(begun).data, status=202)


class VerificationView(ApiView):
    """One comparison with Kafka Streams."""

    @extend_schema(responses=VerificationSerializer, operation_id="verification_get")
    def get(self, request: Request, workspace: str, verification: str) -> Response:
        """Return the progress of a comparison, which is stored for an hour."""
        found = verifying.look(workspace_for(self.person, workspace), verification)
        return Response(VerificationSerializer(found).data)

    @extend_schema(responses={204: None}, operation_id="verification_cancel")
    def delete(self, request: Request, workspace: str, verification: str) -> Response:
        """Cancel the comparison."""
        verifying.cancel(workspace_for(self.person, workspace), verification)
        return Response(status=204)
