"""Views of the event stream and of presence."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from accounts.models import ApiToken
from accounts.permissions import workspace_for
from django.http import StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from millrace_backend.errors import ApiError
from millrace_backend.views import ApiView, valid
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from topologies.api.views import topology_of

from live import actions
from live.api.serializers import (
    CursorSerializer,
    EditedNodeSerializer,
    LiveSnapshotSerializer,
    ShownDeploymentSerializer,
)
from live.feed import Feed
from live.snapshots import Scope


class FirstRenderer(BaseContentNegotiation):
    """Accepts a browser's ``Accept: text/event-stream``, although errors are JSON."""

    def select_parser(self, request: Request, parsers):  # type: ignore[no-untyped-def]
        """The first parser; nothing is read."""
        return parsers[0]

    def select_renderer(  # type: ignore[no-untyped-def]
        self, request: Request, renderers, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The first renderer."""
        return renderers[0], renderers[0].media_type


class LiveView(ApiView):
    """Server-sent events; one stream per tab."""

    content_negotiation_class = FirstRenderer

    @extend_schema(
        parameters=[
            OpenApiParameter("topology", int, description="A topology, or"),
            OpenApiParameter(
                "deployment",
                int,
                description="Which deployment of the topology is shown, with its reports (default, "
                "and if it does not exist: the newest). Of the others, only changes are sent.",
            ),
            OpenApiParameter("workspace", str, description="a workspace's deployments."),
            OpenApiParameter(
                "Last-Event-ID",
                str,
                OpenApiParameter.HEADER,
                description="Sent by browsers after a lost connection: continue after this event.",
            ),
        ],
        responses={(200, "text/event-stream"): LiveSnapshotSerializer},
        description=(
            "First `event: snapshot`, then `deployment.changed`, `deployment.deleted`, "
            "`topology.changed`, `topology.deleted`, `version.created`, `draft.changed` (of "
            "others), `runtime.progress`, `runtime.log`, `presence` and `cursor` (the place of "
            "the pointer of another `user`, null once it left). A further `snapshot` "
            "replaces everything sent before: events were lost, or the driver's last report "
            "became stale."
        ),
        operation_id="live",
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """A snapshot, then events; a comment every 15 s."""
        scope = self.scope(request)
        last = request.headers.get("Last-Event-ID", "")

        async def stream() -> AsyncGenerator[bytes, None]:
            # Created here, in the event loop, because the view runs in another thread.
            async with aclosing(Feed(scope).events(last)) as events:
                async for text in events:
                    yield text

        return StreamingHttpResponse(
            stream(),
            content_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    def scope(self, request: Request) -> Scope:
        """Return what the page listens to, if the reader may."""
        topology, workspace = (
            request.query_params.get(name) or "" for name in ("topology", "workspace")
        )
        shown = valid(ShownDeploymentSerializer, request.query_params).get("deployment")
        person = self.person
        token = request.auth.pk if isinstance(request.auth, ApiToken) else None
        session = "" if token is not None else request._request.session.session_key or ""
        if topology.isascii() and topology.isdigit() and len(topology) < 19 and not workspace:
            row = topology_of(person, int(topology))
            where = (row.workspace_id, row.pk)
            return Scope(person.pk, person.shown_name, *where, token, session, shown)
        if workspace and not topology:
            found = workspace_for(person, workspace)
            return Scope(person.pk, person.shown_name, found.pk, None, token, session)
        raise ApiError(
            "invalid",
            "The request has no topology and no workspace.",
            "Send ?topology=<id> or ?workspace=<slug>.",
            fields={"topology": ["Required without a workspace."]},
        )


class EditedNodeView(ApiView):
    """The node that the reader is editing."""

    @extend_schema(
        request=EditedNodeSerializer, responses={204: None}, operation_id="presence_update"
    )
    def put(self, request: Request, topology: int) -> Response:
        """Report which node is being edited."""
        row = topology_of(self.person, topology)
        given = valid(EditedNodeSerializer, request.data)
        actions.edit_node(self.person, row, given["node"])
        return Response(status=204)


class CursorView(ApiView):
    """Where the reader's pointer is on the canvas."""

    @extend_schema(request=CursorSerializer, responses={204: None}, operation_id="cursor_update")
    def put(self, request: Request, topology: int) -> Response:
        """Show others where the pointer is, at most five times a second; nothing is stored."""
        row = topology_of(self.person, topology)
        given = valid(CursorSerializer, request.data)["at"]
        actions.move_cursor(self.person, row, None if given is None else (given[0], given[1]))
        return Response(status=204)
