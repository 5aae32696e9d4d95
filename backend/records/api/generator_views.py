"""Views for generators, generated records, and *Try it*."""

from __future__ import annotations

from accounts.choices import Role
from accounts.permissions import visible, workspace_for
from catalog.templates import template
from drf_spectacular.utils import extend_schema
from millrace_backend.errors import NotFound
from millrace_backend.schema import paged
from millrace_backend.searching import SEARCH_PARAMETER
from millrace_backend.views import PAGE_PARAMETERS, ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from records import generators
from records.api import generator_serializers as shapes
from records.api.views import TopicApiView
from records.evaluating import values_of
from records.generating import generated, recipe_of
from records.models import Generator
from records.trying import try_template
from records.types import types_of
from records.uses import uses_of


class GeneratorsView(ApiView):
    """The generators of a workspace."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(shapes.GeneratorSerializer),
        operation_id="generator_list",
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List the workspace's generators, running ones first."""
        found = workspace_for(self.person, workspace)
        rows = generators.running_first(found.generators.select_related("created_by"))
        return self.page(rows, shapes.GeneratorSerializer, search=["topic"])

    @extend_schema(
        request=shapes.NewGeneratorSerializer,
        responses={201: shapes.GeneratorSerializer},
        operation_id="generator_start",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Write random records to a topic until a limit is reached or it is stopped (operator)."""
        found = workspace_for(self.person, workspace, Role.OPERATOR)
        values = valid(shapes.NewGeneratorSerializer, request.data)
        made = generators.start_generator(
            self.person, found, values["topic"], values["recipe"], values["rate"],
            seconds=values["seconds"], most=values["most"],
        )  # fmt: skip
        return Response(shapes.GeneratorSerializer(made).data, status=201)


class GeneratorApiView(ApiView):
    """Base of the views of one generator."""

    def generator(self, number: int) -> Generator:
        """Return the generator. Raises NotFound for one that the account may not see."""
        rows = visible(Generator.objects.select_related("workspace", "created_by"), self.person)
        found = rows.filter(pk=number).first()
        if found is None:
            raise NotFound("not_found", f"There is no generator {number} for this account.")
        return found


class GeneratorView(GeneratorApiView):
    """A generator."""

    @extend_schema(
        request=shapes.GeneratorChangeSerializer,
        responses=shapes.GeneratorSerializer,
        operation_id="generator_change",
    )
    def put(self, request: Request, generator: int) -> Response:
        """Change the settings of a generator that does not run (operator)."""
        found = self.generator(generator)
        values = valid(shapes.GeneratorChangeSerializer, request.data)
        changed = generators.change_generator(self.person, found, **values)
        return Response(shapes.GeneratorSerializer(changed).data)

    @extend_schema(responses={204: None}, operation_id="generator_delete")
    def delete(self, request: Request, generator: int) -> Response:
        """Delete a generator that does not run; its records stay in the topic (operator)."""
        generators.delete_generator(self.person, self.generator(generator))
        return Response(status=204)


class GeneratorStartView(GeneratorApiView):
    """Starting a generator again."""

    @extend_schema(
        request=None, responses=shapes.GeneratorSerializer, operation_id="generator_start_again"
    )
    def post(self, request: Request, generator: int) -> Response:
        """Start a generator that has ended again, with its settings (operator)."""
        found = generators.start_again(self.person, self.generator(generator))
        return Response(shapes.GeneratorSerializer(found).data)


class GeneratorStopView(GeneratorApiView):
    """Stopping a generator."""

    @extend_schema(
        request=None, responses=shapes.GeneratorSerializer, operation_id="generator_stop"
    )
    def post(self, request: Request, generator: int) -> Response:
        """Stop the generator (operator)."""
        found = generators.stop_generator(self.person, self.generator(generator))
        return Response(shapes.GeneratorSerializer(found).data)


class GeneratedView(ApiView):
    """Generated records for a simulation."""

    throttle_scope = "simulate"

    @extend_schema(
        request=shapes.GeneratedRequestSerializer,
        responses=shapes.GeneratedSerializer,
        operation_id="records_generate",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Generate random records as input lines; nothing is written."""
        found = workspace_for(self.person, workspace)
        values = valid(shapes.GeneratedRequestSerializer, request.data)
        wanted = values["recipe"]
        formats = {part: wanted[part] for part in ("key", "value")}
        types = types_of(self.person, found, formats)
        recipe = recipe_of(values["topic"], wanted, types)
        lines = generated(self.person, recipe, values["count"], values["every"])
        return Response({"lines": lines})


class FormatTypesView(ApiView):
    """Types of formats, which may need a schema registry."""

    throttle_scope = "compile"

    @extend_schema(
        request=shapes.FormatsSerializer,
        responses=shapes.FormatTypesSerializer,
        operation_id="format_types",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Return the types of a record's key and value; 400 for a schema that cannot be read."""
        found = workspace_for(self.person, workspace)
        types = types_of(self.person, found, valid(shapes.FormatsSerializer, request.data))
        return Response({part: type_.text for part, type_ in types.items()})


class ExpressionValuesView(ApiView):
    """Values of an expression for sample records."""

    throttle_scope = "simulate"

    @extend_schema(
        request=shapes.ExpressionTrialSerializer,
        responses=shapes.ExpressionValuesSerializer,
        operation_id="expression_try",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Return the value or the error for each record (editor); nothing is stored.

        400 with the code `invalid_expression` for an expression that does not compile, 503 with
        `simulator_starting` while the simulator starts.
        """
        found = workspace_for(self.person, workspace, Role.EDITOR)
        asked = valid(shapes.ExpressionTrialSerializer, request.data)
        return Response({"values": values_of(self.person, found, **asked)})


class TopicUsesView(TopicApiView):
    """Uses of a topic."""

    @extend_schema(responses=shapes.TopicUsesSerializer, operation_id="topic_uses")
    def get(self, request: Request, workspace: str, topic: str) -> Response:
        """List nodes of the workspace's topologies that read or write the topic, with their
        formats.
        """
        found = self.workspace_of(workspace, topic)
        return Response({"uses": uses_of(found, topic)})


class TryView(ApiView):
    """Create a template with topics and generators."""

    @extend_schema(
        request=None, responses={201: shapes.TriedSerializer}, operation_id="template_try"
    )
    def post(self, request: Request, workspace: str, template_id: str) -> Response:
        """Create the topology and its topics, and start its generators (operator)."""
        found = workspace_for(self.person, workspace, Role.OPERATOR)
        chosen = template(template_id)
        chinese = request.headers.get("Accept-Language", "").startswith("zh")
        title = chosen.title_zh if chinese else chosen.title
        described = chosen.description_zh if chinese else chosen.description
        tried = try_template(self.person, found, chosen, title, description=described)
        content = {"topology": tried.topology.pk, "generators": tried.generators}
        return Response(shapes.TriedSerializer(content).data, status=201)
