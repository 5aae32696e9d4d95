"""Addresses of the monitoring app."""

from django.urls import path

from monitoring.api import alert_views, views

urlpatterns = [
    path("deployments/<int:deployment>/figures", views.FiguresView.as_view()),
    path("deployments/<int:deployment>/placements", views.PlacementsView.as_view()),
    path("workspaces/<slug:workspace>/alerts", alert_views.AlertsView.as_view()),
    path("workspaces/<slug:workspace>/alert-rules", alert_views.AlertRulesView.as_view()),
    path("alert-rules/<int:rule>", alert_views.AlertRuleView.as_view()),
    path("alert-rules/<int:rule>/test", alert_views.AlertRuleTestView.as_view()),
]
