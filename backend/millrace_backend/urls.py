"""All URLs: the API, and the page for the rest."""

from typing import Any

from django.urls import include, path, re_path

from millrace_backend.description import DescriptionView
from millrace_backend.errors import not_found
from millrace_backend.pages import page

api: list[Any] = [
    path("", include("accounts.api.urls")),
    path("", include("topologies.api.urls")),
    path("", include("deployments.api.urls")),
    path("", include("catalog.api.urls")),
    path("", include("records.api.urls")),
    path("", include("monitoring.api.urls")),
    path("", include("live.api.urls")),
    path("schema", DescriptionView.as_view()),
    re_path(r"^", not_found),
]
urlpatterns = [
    path("api/", include(api)),
    re_path(r"^(?P<path>.*)$", page),
]
handler400 = "millrace_backend.errors.bad_request"
handler500 = "millrace_backend.errors.server_error"
