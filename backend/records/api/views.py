"""Views for topics, their records and their consumer groups."""

from __future__ import annotations

from typing import Any

from accounts.choices import Role
from accounts.models import Workspace
from accounts.permissions import workspace_for
from deployments.cluster import list_topics
from drf_spectacular.utils import OpenApiParameter, extend_schema
from millrace_backend import kafka
from millrace_backend.paging import Paging
from millrace_backend.schema import paged
from millrace_backend.searching import SEARCH_PARAMETER, searched_words
from millrace_backend.views import PAGE_PARAMETERS, ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from records import actions, topics
from records.api import serializers as shapes
from records.decoding import Reader
from records.expressions import Where
from records.filters import read_filter
from records.queries import Asked, read_one, read_page
from records.sampling import Mask, SampleRequest, sample


class KafkaClusterView(ApiView):
    """The Kafka cluster of the installation."""

    @extend_schema(responses=shapes.KafkaClusterSerializer, operation_id="kafka_cluster_get")
    def get(self, request: Request, workspace: str) -> Response:
        """Return the address of the cluster, for clients; does not connect to it."""
        workspace_for(self.person, workspace)
        return Response(shapes.KafkaClusterSerializer(kafka.address()).data)


class TopicFiguresView(ApiView):
    """Topics that a workspace may use, with their sizes."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(shapes.TopicFiguresSerializer),
        operation_id="topic_figures_list",
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List topics by name, read from Kafka; 503 if it does not respond."""
        found = workspace_for(self.person, workspace)
        words = [word.lower() for word in searched_words(request)]
        named = [
            each
            for each in list_topics(found.topic_prefixes)
            if all(word in each["name"].lower() for word in words)
        ]
        paging = Paging()
        page = paging.paginate_queryset(named, request, view=self)
        rows = topics.figures({each["name"]: each["partitions"] for each in page or []})
        return paging.get_paginated_response(shapes.TopicFiguresSerializer(rows, many=True).data)


class TopicApiView(ApiView):
    """Base of the views of one topic."""

    def workspace_of(self, workspace: str, topic: str, needed: Role = Role.VIEWER) -> Workspace:
        """Return the workspace if the person has the role in it and it may use the topic."""
        found = workspace_for(self.person, workspace, needed)
        topics.check_allowed(found, topic)
        return found

    def formats_of(
        self, workspace: Workspace, topic: str, given: dict[str, Any]
    ) -> tuple[tuple[str, str], Reader | None]:
        """Remove the formats of key and value from a request's fields, and return them.

        Also returns a reader if they are the formats of a node or need a schema.
        """
        formats: dict[str, Any] = {
            part: {
                name: given.pop(f"{part}_{name}")
                for name in ("format", "schema", "registry", "subject")
                if f"{part}_{name}" in given
            }
            for part in ("key", "value")
        }
        name = given.pop("reader")
        reader = (
            Reader.of(self.person, workspace, topic, name)
            if name
            else Reader.by_schema(self.person, workspace, formats)
        )
        return (formats["key"]["format"], formats["value"]["format"]), reader

    def page_of(self, workspace: Workspace, topic: str, asked: dict[str, Any]) -> Response:
        """Return the page of records that a request asks for."""
        names = ("contains", "field", "equals", "compare")
        wanted = read_filter(*(asked.pop(name) for name in names))
        formats, reader = self.formats_of(workspace, topic, asked)
        where = asked.pop("where")
        if where:
            asked["where"] = Where(self.person, topic, where, reader, *formats)
        key, value = formats
        page = read_page(
            topic,
            Asked(**asked, key_format=key, value_format=value, reader=reader, filter=wanted),
        )
        return Response(shapes.RecordPageSerializer(page).data)

    def record_at(
        self, workspace: Workspace, topic: str, partition: int, offset: int, given: dict[str, Any]
    ) -> Response:
        """Return the record at an offset, in the formats that a request asks for."""
        formats, reader = self.formats_of(workspace, topic, given)
        record = read_one(topic, partition, offset, formats, reader)
        return Response(shapes.RawRecordSerializer(record).data)


class TopicView(TopicApiView):
    """One topic."""

    @extend_schema(responses=shapes.TopicDetailSerializer, operation_id="topic_get")
    def get(self, request: Request, workspace: str, topic: str) -> Response:
        """Return the topic's partitions with their offsets, and its configuration."""
        self.workspace_of(workspace, topic)
        return Response(shapes.TopicDetailSerializer(topics.detail(topic)).data)

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "despite_unknown",
                bool,
                description="Also delete it if it is not known whether a deployment uses it.",
            )
        ],
        responses={204: None},
        operation_id="topic_delete",
    )
    def delete(self, request: Request, workspace: str, topic: str) -> Response:
        """Delete the topic with its records (admin); 409 if a deployment uses it."""
        found = self.workspace_of(workspace, topic, Role.ADMIN)
        despite = request.query_params.get("despite_unknown") == "true"
        actions.delete_topic(self.person, found, topic, despite_unknown=despite)
        return Response(status=204)


class GroupsView(TopicApiView):
    """Consumer groups of a topic."""

    @extend_schema(responses=shapes.ConsumerGroupsSerializer, operation_id="consumer_group_list")
    def get(self, request: Request, workspace: str, topic: str) -> Response:
        """List the consumer groups with committed offsets for the topic, with their lag."""
        self.workspace_of(workspace, topic)
        return Response(shapes.ConsumerGroupsSerializer(topics.groups(topic)).data)


class RecordsView(TopicApiView):
    """The records of a topic."""

    @extend_schema(
        parameters=[shapes.RecordsQuerySerializer],
        responses=shapes.RecordPageSerializer,
        operation_id="record_list",
    )
    def get(self, request: Request, workspace: str, topic: str) -> Response:
        """Return one page of records. A request scans a limited number; `next` continues from
        there.
        """
        found = self.workspace_of(workspace, topic)
        return self.page_of(
            found, topic, valid(shapes.RecordsQuerySerializer, request.query_params)
        )

    @extend_schema(
        request=shapes.NewRecordSerializer,
        responses={201: shapes.RecordPlaceSerializer},
        operation_id="record_produce",
    )
    def post(self, request: Request, workspace: str, topic: str) -> Response:
        """Write a record (operator)."""
        found = self.workspace_of(workspace, topic, Role.OPERATOR)
        given = valid(shapes.NewRecordSerializer, request.data)
        place = actions.produce(self.person, found, topic, given)
        return Response(shapes.RecordPlaceSerializer(place).data, status=201)


class RecordSearchView(TopicApiView):
    """The records of a topic, for requests with long schemas."""

    @extend_schema(
        request=shapes.ReadRecordsSerializer,
        responses=shapes.RecordPageSerializer,
        operation_id="record_search",
    )
    def post(self, request: Request, workspace: str, topic: str) -> Response:
        """Return one page of records, as GET does; schemas can be sent as text."""
        found = self.workspace_of(workspace, topic)
        return self.page_of(found, topic, valid(shapes.ReadRecordsSerializer, request.data))


class RecordView(TopicApiView):
    """One record."""

    @extend_schema(
        parameters=[shapes.FormatsQuerySerializer],
        responses=shapes.RawRecordSerializer,
        operation_id="record_get",
    )
    def get(
        self, request: Request, workspace: str, topic: str, partition: int, offset: int
    ) -> Response:
        """Return the complete record at an offset, with its bytes."""
        found = self.workspace_of(workspace, topic)
        given = valid(shapes.FormatsQuerySerializer, request.query_params)
        return self.record_at(found, topic, partition, offset, given)

    @extend_schema(
        request=shapes.ReadRecordSerializer,
        responses=shapes.RawRecordSerializer,
        operation_id="record_read",
    )
    def post(
        self, request: Request, workspace: str, topic: str, partition: int, offset: int
    ) -> Response:
        """Return the complete record at an offset, as GET does; schemas can be sent as text."""
        found = self.workspace_of(workspace, topic)
        given = valid(shapes.ReadRecordSerializer, request.data)
        return self.record_at(found, topic, partition, offset, given)


class SamplesView(TopicApiView):
    """Records of a topic for a simulation."""

    @extend_schema(
        request=shapes.SampleRequestSerializer,
        responses=shapes.SampleSerializer,
        operation_id="topic_sample",
    )
    def post(self, request: Request, workspace: str, topic: str) -> Response:
        """Return records as input lines, with masked fields; nothing is changed."""
        found = self.workspace_of(workspace, topic)
        asked = valid(shapes.SampleRequestSerializer, request.data)
        masks = {path: Mask(**mask) for path, mask in asked.pop("masks").items()}
        for part, usual in (("key", "string"), ("value", "json")):
            asked.setdefault(part, {"format": asked.pop(f"{part}_format", usual)})
        taken = sample(self.person, found, topic, SampleRequest(**asked, masks=masks))
        return Response({"lines": taken.lines, "skipped": taken.skipped})
