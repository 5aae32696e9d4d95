"""URLs of the records app."""

from django.urls import path

from records.api import follow_views, generator_views, views

urlpatterns = [
    path("deployments/<int:deployment>/followed-record", follow_views.FollowView.as_view()),
    path("deployments/<int:deployment>/simulations", follow_views.DeployedSimulationView.as_view()),
    path("workspaces/<slug:workspace>/kafka-cluster", views.KafkaClusterView.as_view()),
    path("workspaces/<slug:workspace>/topic-figures", views.TopicFiguresView.as_view()),
    path("workspaces/<slug:workspace>/generators", generator_views.GeneratorsView.as_view()),
    path("generators/<int:generator>", generator_views.GeneratorView.as_view()),
    path("generators/<int:generator>/start", generator_views.GeneratorStartView.as_view()),
    path("generators/<int:generator>/stop", generator_views.GeneratorStopView.as_view()),
    path("workspaces/<slug:workspace>/generated-records", generator_views.GeneratedView.as_view()),
    path("workspaces/<slug:workspace>/format-types", generator_views.FormatTypesView.as_view()),
    path(
        "workspaces/<slug:workspace>/expression-values",
        generator_views.ExpressionValuesView.as_view(),
    ),
    path(
        "workspaces/<slug:workspace>/templates/<slug:template_id>/try",
        generator_views.TryView.as_view(),
    ),
    path(
        "workspaces/<slug:workspace>/topics/<str:topic>/uses",
        generator_views.TopicUsesView.as_view(),
    ),
    path("workspaces/<slug:workspace>/topics/<str:topic>/samples", views.SamplesView.as_view()),
    path("workspaces/<slug:workspace>/topics/<str:topic>", views.TopicView.as_view()),
    path("workspaces/<slug:workspace>/topics/<str:topic>/groups", views.GroupsView.as_view()),
    path("workspaces/<slug:workspace>/topics/<str:topic>/records", views.RecordsView.as_view()),
    path(
        "workspaces/<slug:workspace>/topics/<str:topic>/records/search",
        views.RecordSearchView.as_view(),
    ),
    path(
        "workspaces/<slug:workspace>/topics/<str:topic>/records/<int:partition>/<int:offset>",
        views.RecordView.as_view(),
    ),
]
