"""Comparisons with Kafka Streams."""

from __future__ import annotations

from typing import Any

from accounts.permissions import workspace_for
from drf_spectacular.utils import extend_schema
from millrace_backend.schema import CauseSerializer
from millrace_backend.views import ApiView, valid
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from topologies import verifying
from topologies.api.fields import DocumentField
from topologies.api.simulation_serializers import DifferenceSerializer
from topologies.choices import VerificationState, VerificationStep
from topologies.simulating import MOST_INPUTS


class VerificationRequestSerializer(serializers.Serializer[Any]):
    """A document that need not be saved, and input lines as of a simulation."""

    document = DocumentField()
    inputs = serializers.ListField(child=serializers.JSONField(), max_length=MOST_INPUTS)


class VerificationSerializer(serializers.Serializer[Any]):
    """How far a comparison is, and what differs."""

    id = serializers.CharField()
    state = serializers.ChoiceField(choices=VerificationState.choices)
    doing = serializers.ChoiceField(choices=VerificationStep.choices, allow_null=True)
    differences = DifferenceSerializer(
        many=True,
        allow_null=True,
        help_text="Where Millrace does something else than Kafka Streams; empty: equal. Null until "
        "it is done.",
    )
    error = CauseSerializer(allow_null=True, help_text="Why it could not be compared.")


class VerificationsView(ApiView):
    """Runs on Kafka Streams itself."""

    throttle_scope = "simulate"

    @extend_schema(
        request=VerificationRequestSerializer,
        responses={202: VerificationSerializer},
        operation_id="verification_start",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Compare a document's results with those of Kafka Streams (right: simulate)."""
        found = workspace_for(self.person, workspace)
        values = valid(VerificationRequestSerializer, request.data)
        begun = verifying.begin(self.person, found, values["document"], values["inputs"])
        return Response(VerificationSerializer(begun).data, status=202)


class VerificationView(ApiView):
    """One of them."""

    @extend_schema(responses=VerificationSerializer, operation_id="verification_get")
    def get(self, request: Request, workspace: str, verification: str) -> Response:
        """How far it is; kept for an hour."""
        found = verifying.look(workspace_for(self.person, workspace), verification)
        return Response(VerificationSerializer(found).data)

    @extend_schema(responses={204: None}, operation_id="verification_cancel")
    def delete(self, request: Request, workspace: str, verification: str) -> Response:
        """End it."""
        verifying.cancel(workspace_for(self.person, workspace), verification)
        return Response(status=204)
