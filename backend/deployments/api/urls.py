"""Addresses of the deployments app."""

from django.urls import path

from deployments.api import change_views, failed_record_views, shadow_views, store_views, views

urlpatterns = [
    path("metrics", views.MetricsView.as_view()),
    path("workspaces/<slug:workspace>/topics", views.TopicsView.as_view()),
    path(
        "topologies/<int:topology>/versions/<int:number>/missing-topics",
        views.MissingTopicsView.as_view(),
    ),
    path("workspaces/<slug:workspace>/deployments", views.DeploymentsView.as_view()),
    path("workspaces/<slug:workspace>/state-changes", change_views.StateChangesView.as_view()),
    path("deployments/<int:deployment>", views.DeploymentView.as_view()),
    path("deployments/<int:deployment>/start", views.StartView.as_view()),
    path("deployments/<int:deployment>/stop", views.StopView.as_view()),
    path("deployments/<int:deployment>/pause", views.PauseView.as_view()),
    path("deployments/<int:deployment>/resume", views.ResumeView.as_view()),
    path("deployments/<int:deployment>/restart", views.RestartView.as_view()),
    path("deployments/<int:deployment>/cancel", views.CancelView.as_view()),
    path("deployments/<int:deployment>/schedule", views.ScheduleView.as_view()),
    path("deployments/<int:deployment>/redeploy", change_views.RedeployView.as_view()),
    path("deployments/<int:deployment>/shadow", shadow_views.ShadowView.as_view()),
    path("deployments/<int:deployment>/shadow/end", shadow_views.EndShadowView.as_view()),
    path("deployments/<int:deployment>/shadow/comparison", shadow_views.ComparisonView.as_view()),
    path("deployments/<int:deployment>/scale", change_views.ScaleView.as_view()),
    path("deployments/<int:deployment>/plan", change_views.PlanView.as_view()),
    path("deployments/<int:deployment>/promotion", change_views.PromotionView.as_view()),
    path(
        "deployments/<int:deployment>/failed-record", failed_record_views.FailedRecordView.as_view()
    ),
    path(
        "deployments/<int:deployment>/record-decisions/<str:topic>/<int:partition>/<int:offset>",
        failed_record_views.RecordDecisionView.as_view(),
    ),
    path("deployments/<int:deployment>/old-state", views.OldStateView.as_view()),
    path("deployments/<int:deployment>/old-state/<str:name>", views.OldStateOneView.as_view()),
    path("deployments/<int:deployment>/runs/<int:run>/threads", views.ThreadsView.as_view()),
    path("deployments/<int:deployment>/runs", views.RunsView.as_view()),
    path("deployments/<int:deployment>/logs", views.LogsView.as_view()),
    path("deployments/<int:deployment>/stores", store_views.StoresView.as_view()),
    path("deployments/<int:deployment>/stores/<str:store>", store_views.StoreView.as_view()),
    path("deployments/<int:deployment>/runtime", views.RuntimeView.as_view()),
    path("deployments/<int:deployment>/records", views.SamplesView.as_view()),
]
