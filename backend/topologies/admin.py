"""Admin pages of topologies. Drafts are private and not shown."""

from django.contrib import admin
from millrace_backend.admin import ReadOnlyAdmin

from topologies.models import Topology, Version


@admin.register(Topology)
class TopologyAdmin(ReadOnlyAdmin):
    """Topologies."""

    list_display = ("name", "workspace", "latest_number", "updated_at")


@admin.register(Version)
class VersionAdmin(ReadOnlyAdmin):
    """Versions."""

    list_display = ("topology", "number", "author", "created_at", "hash")
