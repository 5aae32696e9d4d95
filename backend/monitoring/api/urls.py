"""Addresses of the monitoring app."""

from django.urls import path

from monitoring.api import views

urlpatterns = [
    path("deployments/<int:deployment>/figures", views.FiguresView.as_view()),
]
