"""The stores of a deployment: interactive queries on its last committed batch."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from millrace_backend.views import ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from deployments import stores
from deployments.api import store_serializers as shapes
from deployments.api.views import deployment_of


class StoresView(ApiView):
    """The stores that can be queried."""

    @extend_schema(responses=shapes.StoresSerializer, operation_id="store_list")
    def get(self, request: Request, deployment: int) -> Response:
        """Stores with their types, without the buffers of joins and suppressions."""
        row = deployment_of(self.person, deployment)
        return Response(shapes.StoresSerializer(stores.list_stores(row)).data)


class StoreView(ApiView):
    """The rows of a store."""

    throttle_scope = "simulate"

    @extend_schema(
        parameters=[shapes.StoreQuerySerializer],
        responses={200: shapes.StoreAnswerSerializer, 202: shapes.StoreAnswerSerializer},
        operation_id="store_read",
    )
    def get(self, request: Request, deployment: int, store: str) -> Response:
        """One page, of a running or a stopped deployment; the job is not slowed.

        202 while the process that reads is starting: try again in a second. 409 before the first
        batch.
        """
        row = deployment_of(self.person, deployment)
        given = valid(shapes.StoreQuerySerializer, request.query_params)
        answer = stores.read_store(row, store, given, self.person)
        status = 202 if answer["state"] == "starting" else 200
        # It has the described shape already; a serializer takes longer than the lookup.
        return Response(answer, status=status)
