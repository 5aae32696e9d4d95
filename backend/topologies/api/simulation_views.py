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
    """Records to simulate a topology with."""

    @extend_schema(responses=SampleInputsSerializer, operation_id="sample_inputs_get")
    def get(self, request: Request, topology: int) -> Response:
        """The input lines that came with its template; none for other topologies."""
        found = topology_of(self.person, topology)
        row = SampleInputs.objects.filter(topology=found).first()
        return Response({"inputs": row.inputs if row else []})


class SimulationsView(ApiView):
    """The reader's simulations; they leave nothing behind."""

    throttle_scope = "simulate"

    @extend_schema(responses=SimulatorSerializer, operation_id="simulator_get")
    def get(self, request: Request, workspace: str) -> Response:
        """Whether a simulation would run at once; a simulator that is not there is started."""
        workspace_for(self.person, workspace)
        return Response({"state": simulating.prepare()})

    @extend_schema(
        request=SimulationRequestSerializer,
        responses={200: SimulationSerializer, 202: SimulationSerializer},
        operation_id="simulation_run",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Run a document on input lines (editor; a viewer: a saved version's document).

        202 while a simulator is starting: ask again in a second.
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
        )
        return Response(answer, status=202 if answer["state"] == "starting" else 200)

    @extend_schema(responses={204: None}, operation_id="simulation_cancel")
    def delete(self, request: Request, workspace: str) -> Response:
        """End the reader's simulations that are running."""
        workspace_for(self.person, workspace)
        simulating.cancel(self.person)
        return Response(status=204)
