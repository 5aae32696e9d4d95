"""Views for following a record through a deployment."""

from __future__ import annotations

from deployments.api.views import deployment_of
from drf_spectacular.utils import extend_schema
from millrace_backend.views import ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response
from topologies import simulating
from topologies.api.simulation_serializers import SimulationSerializer

from records import batches
from records.api import follow_serializers as shapes
from records.following import FollowRequest, deployed_document, follow
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
        """Return a record and its neighbors as input lines, with the document that the deployment
        runs; nothing is changed. Simulate them to see where the record went. One request of a
        search scans a limited number of records.
        """
        row = deployment_of(self.person, deployment)
        asked = valid(shapes.FollowRequestSerializer, request.data)
        asked["masks"] = {path: Mask(**mask) for path, mask in asked["masks"].items()}
        return Response(follow(row, self.person, FollowRequest(**asked)))


class DeployedSimulationView(ApiView):
    """Simulations that begin with the stores of a deployment."""

    throttle_scope = "simulate"

    @extend_schema(
        request=shapes.DeployedSimulationSerializer,
        responses={200: SimulationSerializer, 202: SimulationSerializer},
        operation_id="deployment_simulation_run",
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Run the deployed version on input lines, beginning with the stores as they were after a
        micro-batch. The deployment is not affected. 202 while a process is starting: try again in a
        second. 409 if the checkpoint no longer has that state, or has too much of it.
        """
        row = deployment_of(self.person, deployment)
        asked = valid(shapes.DeployedSimulationSerializer, request.data)
        begins = asked.pop("begins")
        states = batches.states(row, self.person, begins["batch"], begins["tasks"])
        if states is None:
            answer = simulating.STARTING
        else:
            document, environment = deployed_document(row)
            run = simulating.Simulation(document, begins=states, environment=environment, **asked)
            answer = simulating.simulated(run, self.person, row.workspace)
        return Response(answer, status=202 if answer["state"] == "starting" else 200)
