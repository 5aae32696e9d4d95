"""A field of JSON that keeps what was written."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class WrittenJSONField(models.JSONField):
    """JSON with the order of its names and with its numbers as they were written.

    PostgreSQL's `jsonb`, which Django's field uses, sorts names, writes `1e+22` as an integer, and
    has no `-0.0`. A map in a test's records would then have other entries first, and a document
    another hash. The type `json` keeps the text.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        """Return the type of the column."""
        return "json" if connection.vendor == "postgresql" else super().db_type(connection)

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> Any:
        """Return the parameter of a statement."""
        if connection.vendor == "postgresql" and isinstance(value, dict | list):
            from psycopg.types.json import Json

            return Json(value)
        return super().get_db_prep_value(value, connection, prepared)

    def from_db_value(self, value: Any, expression: Any, connection: BaseDatabaseWrapper) -> Any:
        """Return the value; psycopg has parsed `json` already."""
        if isinstance(value, dict | list):
            return value
        return super().from_db_value(value, expression, connection)
