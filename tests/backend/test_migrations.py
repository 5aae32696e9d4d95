"""Tests make the tables from the models; an installation, from the migrations."""

from __future__ import annotations

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def test_migrations_make_the_tables_of_the_models() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
