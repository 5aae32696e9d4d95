"""Addresses of the live app."""

from django.urls import path

from live.api import views

urlpatterns = [
    path("live", views.LiveView.as_view()),
    path("topologies/<int:topology>/presence", views.EditedNodeView.as_view()),
    path("topologies/<int:topology>/cursor", views.CursorView.as_view()),
]
