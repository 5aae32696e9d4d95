"""Serializers of the catalog and of templates."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from topologies.api.fields import DocumentField


class FamilySerializer(serializers.Serializer[Any]):
    """A group of the palette."""

    id = serializers.CharField()
    title = serializers.CharField()


class InputSerializer(serializers.Serializer[Any]):
    """An input port."""

    name = serializers.CharField()
    roles = serializers.ListField(child=serializers.CharField())
    dynamic = serializers.CharField(allow_null=True)

    def get_fields(self) -> dict[str, Any]:
        """Add ``many``, a name that every serializer already uses."""
        return {**super().get_fields(), "many": serializers.BooleanField()}


class OutputSerializer(serializers.Serializer[Any]):
    """An output port."""

    name = serializers.CharField()
    role = serializers.CharField()
    dynamic = serializers.CharField(allow_null=True)


class ExampleSerializer(serializers.Serializer[Any]):
    """Input and output records of an operator."""

    before = serializers.ListField(child=serializers.DictField())
    after = serializers.ListField(child=serializers.DictField())


class ParameterExpressionSerializer(serializers.Serializer[Any]):
    """The columns an expression can use and the type it returns."""

    columns = serializers.CharField()
    expects = serializers.CharField(allow_null=True)


class DependencySerializer(serializers.Serializer[Any]):
    """The condition under which a parameter applies."""

    parameter = serializers.CharField()
    values = serializers.ListField(child=serializers.JSONField())


class ParameterSerializer(serializers.Serializer[Any]):
    """A parameter of an operator, with all that is needed to render its field."""

    name = serializers.CharField()
    title = serializers.CharField()
    widget = serializers.CharField()
    choices = serializers.ListField(child=serializers.CharField(), allow_null=True)
    unit = serializers.CharField(allow_null=True)
    expression = ParameterExpressionSerializer(allow_null=True)
    depends_on = DependencySerializer(allow_null=True)
    min = serializers.FloatField(allow_null=True)
    max = serializers.FloatField(allow_null=True)

    def get_fields(self) -> dict[str, Any]:
        """Add the fields whose names every serializer field already uses."""
        return {
            **super().get_fields(),
            "required": serializers.BooleanField(),
            "default": serializers.JSONField(allow_null=True),
            "help": serializers.CharField(),
        }


class KindSerializer(serializers.Serializer[Any]):
    """An operator."""

    kind = serializers.CharField()
    title = serializers.CharField()
    family = serializers.CharField()
    icon = serializers.CharField()
    description = serializers.CharField()
    synonyms = serializers.ListField(child=serializers.CharField())
    example = ExampleSerializer(allow_null=True)
    inputs = InputSerializer(many=True)
    outputs = OutputSerializer(many=True)
    takes_store = serializers.ListField(child=serializers.CharField(), allow_null=True)
    reads_stores = serializers.BooleanField(
        help_text="Whether the stores of tables can be connected as well, which it only reads."
    )
    stateful = serializers.BooleanField()
    changes_key = serializers.BooleanField()
    parameters = ParameterSerializer(many=True)

    def get_fields(self) -> dict[str, Any]:
        """Add ``help``, in Markdown."""
        return {**super().get_fields(), "help": serializers.CharField()}


class FunctionSerializer(serializers.Serializer[Any]):
    """A Spark SQL function."""

    name = serializers.CharField()
    usage = serializers.CharField()
    description = serializers.CharField()


class FormatSerializer(serializers.Serializer[Any]):
    """A format of keys and values on Kafka."""

    format = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    type = serializers.CharField(
        allow_null=True, help_text="Its Spark SQL type; null if the schema determines it."
    )
    properties = serializers.ListField(
        child=serializers.CharField(), help_text="Further properties, such as schema."
    )


class CatalogSerializer(serializers.Serializer[Any]):
    """Kinds, parameters, formats, settings and functions."""

    families = FamilySerializer(many=True)
    kinds = KindSerializer(many=True)
    formats = FormatSerializer(many=True)
    settings = ParameterSerializer(many=True)
    functions = FunctionSerializer(many=True)


class TemplateSerializer(serializers.Serializer[Any]):
    """A topology to start from, with tests, sample records and generators."""

    id = serializers.CharField()
    title = serializers.CharField()
    title_zh = serializers.CharField(help_text="The Chinese text.")
    description = serializers.CharField()
    description_zh = serializers.CharField(help_text="The Chinese text.")
    document = DocumentField()
    generated = serializers.ListField(
        child=serializers.CharField(), help_text="Topics that the template's generators write to."
    )
