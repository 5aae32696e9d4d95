"""Deployments in the admin pages."""

from django.contrib import admin
from millrace_backend.admin import ReadOnlyAdmin

from deployments.models import Deployment, Observation, Run


@admin.register(Deployment)
class DeploymentAdmin(ReadOnlyAdmin):
    """Desired states of deployments."""

    list_display = ("id", "topology", "version", "desired", "updated_at")


@admin.register(Observation)
class ObservationAdmin(ReadOnlyAdmin):
    """Observed states of deployments."""

    list_display = ("deployment", "state", "since")


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Driver processes."""

    list_display = ("deployment", "epoch", "pid", "host", "started_at", "ended_at", "outcome")
