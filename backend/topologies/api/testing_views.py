"""Views for the tests of a topology. A simulation runs a test and lists the differences."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from millrace_backend.errors import NotFound
from millrace_backend.schema import paged
from millrace_backend.searching import SEARCH_PARAMETER
from millrace_backend.views import PAGE_PARAMETERS, ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from topologies import testing
from topologies.api.testing_serializers import TopologyTestSerializer
from topologies.api.views import topology_of
from topologies.models import Topology, TopologyTest


class TestsView(ApiView):
    """The tests of a topology."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(TopologyTestSerializer),
        operation_id="test_list",
    )
    def get(self, request: Request, topology: int) -> Response:
        """List the tests by name."""
        tests = topology_of(self.person, topology).tests.select_related("updated_by")
        return self.page(tests, TopologyTestSerializer, search=["name"])

    @extend_schema(
        request=TopologyTestSerializer,
        responses={201: TopologyTestSerializer},
        operation_id="test_create",
    )
    def post(self, request: Request, topology: int) -> Response:
        """Create a test (editor)."""
        found = topology_of(self.person, topology)
        return Response(_kept(self, request, found).data, status=201)


class TestView(ApiView):
    """One test of a topology."""

    @extend_schema(
        request=TopologyTestSerializer,
        responses=TopologyTestSerializer,
        operation_id="test_replace",
    )
    def put(self, request: Request, topology: int, test: int) -> Response:
        """Replace a test (editor)."""
        found = topology_of(self.person, topology)
        return Response(_kept(self, request, found, _test_of(found, test)).data)

    @extend_schema(responses={204: None}, operation_id="test_delete")
    def delete(self, request: Request, topology: int, test: int) -> Response:
        """Delete a test (editor)."""
        found = topology_of(self.person, topology)
        testing.delete_test(self.person, _test_of(found, test))
        return Response(status=204)


def _test_of(topology: Topology, test: int) -> TopologyTest:
    found = topology.tests.select_related("topology").filter(pk=test).first()
    if found is None:
        raise NotFound("not_found", f"Topology {topology.pk} has no test {test}.")
    return found


def _kept(
    view: ApiView, request: Request, topology: Topology, test: TopologyTest | None = None
) -> TopologyTestSerializer:
    values = valid(TopologyTestSerializer, request.data)
    kept = testing.keep_test(
        view.person, topology, values["name"], values["inputs"], values["expected"], test
    )
    return TopologyTestSerializer(kept)
