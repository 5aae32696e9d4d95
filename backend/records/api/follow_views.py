"""Where is my record?"""

from __future__ import annotations

from deployments.api.views import deployment_of
from drf_spectacular.utils import extend_schema
from millrace_backend.views import ApiView
from rest_framework.request import Request
from rest_framework.response import Response

from records.api import follow_serializers as shapes
from records.following import FollowRequest, follow
from records.sampling import Mask


class FollowView(ApiView):
    """A record of a deployment's input, for a simulation."""

    throttle_scope = "simulate"

    @extend_schema(
        request=shapes.FollowRequestSerializer,
        responses=shapes.FollowedRecordSerializer,
        operation_id="deployment_follow_record",
    )
    def post(self, request: Request, deployment: int) -> Response:
        """A record and those around it as input lines, with the document that the deployment
        runs; nothing is changed. Simulate them to see where the record went. One request of a
        search scans a limited number of records.
        """
        row = deployment_of(self.person, deployment)
        given = shapes.FollowRequestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        asked = dict(given.validated_data)
        asked["masks"] = {path: Mask(**mask) for path, mask in asked["masks"].items()}
        return Response(follow(row, self.person, FollowRequest(**asked)))
