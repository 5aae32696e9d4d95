"""Views for simulations: the simulator runs a document on input lines."""

from __future__ import annotations

from typing import Any

from accounts.permissions import workspace_for
from drf_spectacular.utils import extend_schema
from millrace_backend.views import ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from topologies import simulating
from topologies.api.simulation_serializers import (
    ProgramReadSerializer,
    ProgramSerializer,
    SampleInputsSerializer,
    SearchRequestSerializer,
    SearchSerializer,
    SimulationRequestSerializer,
    SimulationSerializer,
    SimulatorQuerySerializer,
    SimulatorSerializer,
)
from topologies.api.views import topology_of
from topologies.models import SampleInputs
from topologies.programs import read_program


class SampleInputsView(ApiView):
    """Sample records of a topology."""

    @extend_schema(responses=SampleInputsSerializer, operation_id="sample_inputs_get")
    def get(self, request: Request, topology: int) -> Response:
        """Return the input lines of the topology's template; empty for topologies without a
        template.
        """
        found = topology_of(self.person, topology)
        row = SampleInputs.objects.filter(topology=found).first()
        return Response({"inputs": row.inputs if row else []})


class SimulationsView(ApiView):
    """The user's simulations, which are not stored."""

    def get_throttles(self) -> list[Any]:
        """Limit only new runs, not requests that watch or cancel one."""
        self.throttle_scope = "simulate" if self.request.method == "POST" else None
        return super().get_throttles()

    @extend_schema(
        parameters=[SimulatorQuerySerializer],
        responses=SimulatorSerializer,
        operation_id="simulator_get",
    )
    def get(self, request: Request, workspace: str) -> Response:
        """Return whether a simulation can start immediately; starts the simulator if necessary.
        `progress` is that of the user's run with this name, or of any run.
        """
        workspace_for(self.person, workspace)
        return Response(simulating.prepare(self.person, _run_of(request)))

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
        given = valid(SimulationRequestSerializer, request.data)
        asked = simulating.Simulation(**given)
        answer = simulating.simulated(asked, self.person, found)
        return Response(answer, status=202 if answer["state"] == "starting" else 200)

    @extend_schema(
        parameters=[SimulatorQuerySerializer],
        responses={204: None},
        operation_id="simulation_cancel",
    )
    def delete(self, request: Request, workspace: str) -> Response:
        """Cancel the user's run with this name, which then responds with the results of the input
        lines that it has processed. Without a name, all of the user's simulations end without
        results.
        """
        workspace_for(self.person, workspace)
        simulating.cancel(self.person, _run_of(request))
        return Response(status=204)


class DifferencesView(ApiView):
    """Searches for inputs on which two versions differ, which are not stored."""

    throttle_scope = "simulate"

    @extend_schema(
        request=SearchRequestSerializer,
        responses={200: SearchSerializer, 202: SearchSerializer},
        operation_id="difference_search",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Search for the shortest input on which two documents give different results (roles as
        for simulations). 202 while a simulator is starting: try again in a second. Progress and
        cancellation are those of a simulation with the same `run`; a canceled search returns what
        it has.
        """
        found = workspace_for(self.person, workspace)
        search = simulating.Search(**valid(SearchRequestSerializer, request.data))
        answer = simulating.searched(search, self.person, found)
        return Response(answer, status=202 if answer["state"] == "starting" else 200)


class ProgramsView(ApiView):
    """Programs in Python, which are not stored."""

    throttle_scope = "compile"

    @extend_schema(
        request=ProgramSerializer,
        responses={200: ProgramReadSerializer},
        operation_id="program_read",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Return the document of a program, by running it in a process of its own (operator).
        A program that has none is answered with its problem.
        """
        found = workspace_for(self.person, workspace)
        given = valid(ProgramSerializer, request.data)
        return Response(read_program(person=self.person, workspace=found, **given))


def _run_of(request: Request) -> str | None:
    given = valid(SimulatorQuerySerializer, request.query_params)
    found: str | None = given.get("run")
    return found
