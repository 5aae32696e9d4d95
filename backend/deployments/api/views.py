"""Views of deployments, their runs, logs and figures, and of the cluster's topics."""

from __future__ import annotations

import time
from typing import Any

import structlog
from accounts.choices import Role
from accounts.models import User
from accounts.permissions import visible, workspace_for
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from millrace_backend.errors import ApiError, NotFound, Unavailable
from millrace_backend.schema import paged
from millrace_backend.searching import SEARCH_PARAMETER, search_parameter, searched_text
from millrace_backend.views import PAGE_PARAMETERS, ApiView, valid
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.response import Response
from topologies import environments
from topologies.models import Topology

from deployments import actions, files, schedules
from deployments.api import plan_serializers as plans
from deployments.api import serializers as shapes
from deployments.api.runtime_serializers import (
    RuntimeSerializer,
    SamplesQuerySerializer,
    SamplesSerializer,
)
from deployments.api.schedule_serializers import NewScheduleSerializer
from deployments.beginnings import Beginning
from deployments.choices import LogLevel
from deployments.cluster import list_topics, missing_topics
from deployments.logs import Filter, Place, merged, read_log, reported
from deployments.metrics import CONTENT_TYPE, exposition
from deployments.models import Deployment
from deployments.old_state import old_states
from deployments.queries import whole
from deployments.runtime import read_entries, read_runtime
from deployments.samples import look

log = structlog.get_logger(__name__)

#: number of runs whose reported lines are shown with the log file
RUNS_READ = 3


def deployment_of(reader: User, deployment: int) -> Deployment:
    """Return the deployment. Raises NotFound unless the reader is a member of its workspace."""
    found = visible(Deployment.objects.select_related("topology", "workspace"), reader)
    row = found.filter(pk=deployment).first()
    if row is None:
        raise NotFound("not_found", f"There is no deployment {deployment} for this account.")
    return row


def redis_away(error: RedisError) -> Unavailable:
    """Return the error for a Redis that does not respond."""
    return Unavailable(
        "redis_unreachable",
        f"Redis does not respond: {error}",
        "It is restarted automatically. Try again in a few seconds.",
    )


def shown(deployment: int, status: int = 200) -> Response:
    """Return a deployment with everything that the page shows about it."""
    row = whole(Deployment.objects.filter(pk=deployment)).get()
    return Response(shapes.DeploymentSerializer(row).data, status=status)


class TopicsView(ApiView):
    """The topics of the cluster that the workspace may use."""

    @extend_schema(responses=shapes.TopicSerializer(many=True), operation_id="topic_list")
    def get(self, request: Request, workspace: str) -> Response:
        """Read from Kafka now; 503 if it does not respond."""
        found = workspace_for(self.person, workspace)
        topics = list_topics(found.topic_prefixes)
        return Response(shapes.TopicSerializer(topics, many=True).data)

    @extend_schema(
        request=shapes.NewTopicsSerializer,
        responses={201: shapes.TopicSerializer(many=True)},
        operation_id="topic_create",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Create topics (operator); those that exist are left as they are."""
        found = workspace_for(self.person, workspace, Role.OPERATOR)
        given = valid(shapes.NewTopicsSerializer, request.data)
        wanted = given["topics"]
        actions.create_topics(self.person, found, wanted)
        names = {topic["name"] for topic in wanted}
        there = [each for each in list_topics(found.topic_prefixes) if each["name"] in names]
        return Response(shapes.TopicSerializer(there, many=True).data, status=201)


class MissingTopicsView(ApiView):
    """The topics that a version needs and the cluster lacks."""

    @extend_schema(
        parameters=[shapes.EnvironmentQuerySerializer],
        responses=shapes.MissingTopicSerializer(many=True),
        operation_id="missing_topic_list",
    )
    def get(self, request: Request, topology: int, number: int) -> Response:
        """Read from Kafka now; 503 if it does not respond."""
        topologies = visible(Topology.objects.select_related("workspace"), self.person)
        row = topologies.filter(pk=topology).first()
        if row is None:
            raise NotFound("not_found", f"There is no topology {topology} for this account.")
        version = row.versions.filter(number=number).first()
        if version is None:
            raise NotFound("no_such_version", f"“{row.name}” has no version {number}.")
        asked = valid(shapes.EnvironmentQuerySerializer, request.query_params)
        document = environments.document_in(version.document, asked.get("environment"))
        found = missing_topics(document, row.workspace.topic_prefixes)
        return Response(shapes.MissingTopicSerializer(found, many=True).data)


class DeploymentsView(ApiView):
    """The deployments of a workspace."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(shapes.DeploymentSerializer),
        operation_id="deployment_list",
    )
    def get(self, request: Request, workspace: str) -> Response:
        """One page, newest first."""
        found = workspace_for(self.person, workspace)
        return self.page(
            whole(Deployment.objects.filter(workspace=found, is_shadow=False)),
            shapes.DeploymentSerializer,
            search=["topology__name"],
        )

    @extend_schema(
        request=shapes.NewDeploymentSerializer,
        responses={201: shapes.DeploymentSerializer},
        operation_id="deployment_create",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Deploy a version and start it (operator)."""
        found = workspace_for(self.person, workspace, Role.OPERATOR)
        values = valid(shapes.NewDeploymentSerializer, request.data)
        topology = Topology.objects.filter(workspace=found, pk=values["topology"]).first()
        if topology is None:
            raise NotFound(
                "no_such_topology",
                f"There is no topology {values['topology']} in this workspace.",
                fields={"topology": ["Not in this workspace."]},
            )
        row = actions.create_deployment(
            self.person, topology, values["version"], values["target"], values["settings"]
        )
        return shown(row.pk, 201)


class DeploymentView(ApiView):
    """One deployment."""

    @extend_schema(responses=shapes.DeploymentSerializer, operation_id="deployment_get")
    def get(self, request: Request, deployment: int) -> Response:
        """Desired and observed state."""
        return shown(deployment_of(self.person, deployment).pk)

    @extend_schema(responses={204: None}, operation_id="deployment_delete")
    def delete(self, request: Request, deployment: int) -> Response:
        """Delete a stopped deployment and its state (operator)."""
        actions.delete_deployment(self.person, deployment_of(self.person, deployment))
        return Response(status=204)


class StartView(ApiView):
    """Starting a deployment."""

    @extend_schema(
        request=plans.StartSerializer,
        responses=shapes.DeploymentSerializer,
        operation_id="deployment_start",
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Start, or retry after a failure (operator), where it stopped or at another position.

        409 for another position while the deployment runs: redeploy it with that position.
        """
        row = deployment_of(self.person, deployment)
        values = valid(plans.StartSerializer, request.data)
        actions.request_start(self.person, row, Beginning.of(values), values.get("name", ""))
        return shown(row.pk)


class StopView(ApiView):
    """Stopping a deployment."""

    @extend_schema(
        request=plans.StopSerializer,
        responses=shapes.DeploymentSerializer,
        operation_id="deployment_stop",
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Stop gracefully (operator), after the batch or after all records in the topics now.

        409 for a drain if no driver is running.
        """
        row = deployment_of(self.person, deployment)
        given = valid(plans.StopSerializer, request.data)
        actions.request_stop(self.person, row, drain=given["drain"])
        return shown(row.pk)


class PauseView(ApiView):
    """Pausing a deployment."""

    @extend_schema(
        request=None, responses=shapes.DeploymentSerializer, operation_id="deployment_pause"
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Pause after the batch (operator): the driver stays alive and reads nothing.

        409 if the deployment is not running.
        """
        row = deployment_of(self.person, deployment)
        actions.request_pause(self.person, row)
        return shown(row.pk)


class ResumeView(ApiView):
    """Resuming a deployment."""

    @extend_schema(
        request=None, responses=shapes.DeploymentSerializer, operation_id="deployment_resume"
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Continue where it was paused (operator). 409 if it is not paused."""
        row = deployment_of(self.person, deployment)
        actions.request_resume(self.person, row)
        return shown(row.pk)


class RestartView(ApiView):
    """Restarting a deployment."""

    @extend_schema(
        request=None, responses=shapes.DeploymentSerializer, operation_id="deployment_restart"
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Restart from where it stopped (operator)."""
        row = deployment_of(self.person, deployment)
        actions.request_restart(self.person, row)
        return shown(row.pk)


class CancelView(ApiView):
    """Canceling a redeploy."""

    @extend_schema(
        request=None, responses=shapes.DeploymentSerializer, operation_id="deployment_cancel"
    )
    def post(self, request: Request, deployment: int) -> Response:
        """Cancel a redeploy before the first batch of its version (operator).

        The previous version continues where it stopped. 409 if there is nothing to cancel.
        """
        row = deployment_of(self.person, deployment)
        actions.request_cancel(self.person, row)
        return shown(row.pk)


class ScheduleView(ApiView):
    """The schedule of a deployment."""

    @extend_schema(
        request=NewScheduleSerializer,
        responses=shapes.DeploymentSerializer,
        operation_id="deployment_schedule",
    )
    def put(self, request: Request, deployment: int) -> Response:
        """Set when the deployment runs (operator); the next of these times starts or stops it."""
        row = deployment_of(self.person, deployment)
        given = valid(NewScheduleSerializer, request.data)
        schedules.set_schedule(self.person, row, given["times"], given["zone"])
        return shown(row.pk)

    @extend_schema(
        responses={200: shapes.DeploymentSerializer}, operation_id="deployment_unschedule"
    )
    def delete(self, request: Request, deployment: int) -> Response:
        """Remove the schedule (operator); the deployment stays as it is. 404 without one."""
        row = deployment_of(self.person, deployment)
        schedules.remove_schedule(self.person, row)
        return shown(row.pk)


class RunsView(ApiView):
    """Every driver process of a deployment."""

    @extend_schema(
        parameters=PAGE_PARAMETERS,
        responses=paged(shapes.EndedRunSerializer),
        operation_id="run_list",
    )
    def get(self, request: Request, deployment: int) -> Response:
        """One page, newest first."""
        row = deployment_of(self.person, deployment)
        runs = row.runs.select_related("version", "deployment").defer("version__document")
        return self.page(runs, shapes.EndedRunSerializer)


class OldStateView(ApiView):
    """State that a deployment left."""

    @extend_schema(
        responses=shapes.OldStateSerializer(many=True), operation_id="deployment_old_state"
    )
    def get(self, request: Request, deployment: int) -> Response:
        """State kept from before moves and resets, newest first."""
        found = old_states(deployment_of(self.person, deployment))
        return Response(shapes.OldStateSerializer(found, many=True).data)


class OldStateOneView(ApiView):
    """One state that a deployment left."""

    @extend_schema(responses={204: None}, operation_id="deployment_old_state_delete")
    def delete(self, request: Request, deployment: int, name: str) -> Response:
        """Delete it permanently (operator). 409 within a day after it was left."""
        actions.delete_old_state(self.person, deployment_of(self.person, deployment), name)
        return Response(status=204)


class ThreadsView(ApiView):
    """The threads of a driver that did not respond."""

    @extend_schema(responses={(200, "text/plain"): OpenApiTypes.STR}, operation_id="run_threads")
    def get(self, request: Request, deployment: int, run: int) -> HttpResponse:
        """Its thread dump, taken before it was restarted; 404 for other runs."""
        row = deployment_of(self.person, deployment)
        try:
            text = files.read_text(row.directory, row.threads_file(run), errors="replace")
        except OSError as error:
            raise NotFound("no_threads", f"There is no thread dump of run {run}.") from error
        return HttpResponse(text, content_type="text/plain; charset=utf-8")


class LogsView(ApiView):
    """The driver's log."""

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "after", str, description="The `next` position of the previous response."
            ),
            OpenApiParameter("node", str, description="Only lines of this node."),
            OpenApiParameter(
                "level", str, enum=LogLevel.values, description="Lines of at least this level."
            ),
            search_parameter("Lines that contain this text."),
        ],
        responses=shapes.LogPageSerializer,
        operation_id="deployment_logs",
    )
    def get(self, request: Request, deployment: int) -> Response:
        """Up to a few hundred lines after a position; without one, the latest lines."""
        row = deployment_of(self.person, deployment)
        asked = request.query_params
        after, level = asked.get("after") or None, asked.get("level", "").lower()
        try:
            place = None if after is None else Place.read(after)
        except ValueError as error:
            raise ApiError(
                "invalid",
                "“after” is not a position in the log.",
                "Send “next” of the previous response, or omit it.",
                fields={"after": ["Not a position in the log."]},
            ) from error
        if level and level not in LogLevel.values:
            raise ApiError(
                "invalid",
                f"There is no log level {level[:20]!r}.",
                f"Levels: {', '.join(LogLevel.values)}.",
                fields={"level": ["Unknown."]},
            )
        wanted = Filter(
            asked.get("node", ""), LogLevel(level) if level else None, searched_text(request)
        )
        lines, offset = read_log(row.log_file, None if place is None else place.offset, wanted)
        entry = "" if place is None else place.entry
        runs = list(row.runs.values_list("report_id", flat=True)[:RUNS_READ])
        try:
            reports, entry = reported(read_entries(runs[::-1], entry), entry, wanted)
            lines = merged(lines, reports)
        except RedisError as error:
            log.warning(
                "Redis does not respond; only the log file was read",
                deployment=row.pk,
                reason=str(error),
            )
        content: dict[str, Any] = {"lines": lines, "next": str(Place(offset, entry))}
        return Response(shapes.LogPageSerializer(content).data)


class RuntimeView(ApiView):
    """The driver's last report."""

    @extend_schema(responses=RuntimeSerializer, operation_id="deployment_runtime")
    def get(self, request: Request, deployment: int) -> Response:
        """Metrics of the current run; 404 if there is none or it has not reported yet."""
        row = deployment_of(self.person, deployment)
        run = row.runs.filter(ended_at__isnull=True).first()
        found = None
        if run is not None:
            try:
                found = read_runtime(row.pk, run.report_id, time.time() * 1000)
            except RedisError as error:
                raise redis_away(error) from error
        if found is None:
            raise NotFound(
                "no_report",
                "No driver of this deployment has reported yet."
                if run
                else "No driver of this deployment is running.",
                "Try again when it runs.",
            )
        return Response(found)


class SamplesView(ApiView):
    """The last records over an edge of a running deployment."""

    @extend_schema(
        parameters=[SamplesQuerySerializer],
        responses=SamplesSerializer,
        operation_id="deployment_records",
    )
    def get(self, request: Request, deployment: int) -> Response:
        """Records captured by the driver, which captures only while they are requested."""
        row = deployment_of(self.person, deployment)
        given = valid(SamplesQuerySerializer, request.query_params)
        try:
            found = look(row, given["edge"])
        except RedisError as error:
            raise redis_away(error) from error
        return Response(SamplesSerializer(found).data)


class MetricsView(ApiView):
    """The figures of all deployments of the reader's workspaces, for Prometheus."""

    @extend_schema(responses={(200, "text/plain"): OpenApiTypes.STR}, operation_id="metrics_get")
    def get(self, request: Request) -> HttpResponse:
        """Counters and gauges with the labels workspace, topology and deployment."""
        followed = Deployment.objects.filter(is_shadow=False).select_related("workspace")
        rows = whole(visible(followed, self.person))
        try:
            found = exposition(rows.order_by("pk"))
        except RedisError as error:
            raise redis_away(error) from error
        return HttpResponse(found, content_type=CONTENT_TYPE)
