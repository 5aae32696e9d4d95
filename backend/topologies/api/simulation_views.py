"""Simulations: a document on given records, run by the simulator."""

from __future__ import annotations

from accounts.permissions import workspace_for
from drf_spectacular.utils import extend_schema
from millrace_backend.views import ApiView
from rest_framework.request import Request
from rest_framework.response import Response

from topologies import simulating
from topologies.api.simulation_serializers import (
    SampleInputsSerializer,
    SimulationRequestSerializer,
    SimulationSerializer,
    SimulatorSerializer,
)
from topologies.api.views import topology_of
from topologies.models import SampleInputs


class SampleInputsView(ApiView):
    """Records for simulating a topology."""

    @extend_schema(responses=SampleInputsSerializer, operation_id="sample_inputs_get")
    def get(self, request: Request, topology: int) -> Response:
        """The input lines of its template; none for topologies without a template."""
        found = topology_of(self.person, topology)
        row = SampleInputs.objects.filter(topology=found).first()
        return Response({"inputs": row.inputs if row else []})


class SimulationsView(ApiView):
    """The user's simulations, which are not stored."""

    throttle_scope = "simulate"

    @extend_schema(responses=SimulatorSerializer, operation_id="simulator_get")
    def get(self, request: Request, workspace: str) -> Response:
        """Whether a simulation can start immediately; starts the simulator if necessary. `progress`
        of the user's run in plain Spark.
        """
        workspace_for(self.person, workspace)
        return Response(simulating.prepare(self.person))

    @extend_schema(
        request=SimulationRequestSerializer,
        responses={200: SimulationSerializer, 202: SimulationSerializer},
        operation_id="simulation_run",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Run a document on input lines (editor; viewers: the document of a saved version). 202
        while a simulator is starting: try again in a second. With `plain`, plain Spark runs the
        same lines, and the response compares both results.
        """
        found = workspace_for(self.person, workspace)
        given = SimulationRequestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        asked = given.validated_data
        answer = simulating.simulated(
            asked["document"],
            asked["inputs"],
            self.person,
            found,
            steps=asked["steps"],
            expected=asked.get("expected"),
            breakpoints=asked.get("breakpoints"),
            partitions=asked.get("partitions"),
            plain=asked.get("plain"),
        )
        return Response(answer, status=202 if answer["state"] == "starting" else 200)

    @extend_schema(responses={204: None}, operation_id="simulation_cancel")
    def delete(self, request: Request, workspace: str) -> Response:
        """Cancel the user's running simulations."""
        workspace_for(self.person, workspace)
        simulating.cancel(self.person)
        return Response(status=204)
