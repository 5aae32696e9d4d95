"""Addresses of the records app."""

from django.urls import path

from records.api import views

urlpatterns = [
    path("workspaces/<slug:workspace>/topic-figures", views.TopicFiguresView.as_view()),
    path("workspaces/<slug:workspace>/topics/<str:topic>", views.TopicView.as_view()),
    path("workspaces/<slug:workspace>/topics/<str:topic>/groups", views.GroupsView.as_view()),
    path("workspaces/<slug:workspace>/topics/<str:topic>/records", views.RecordsView.as_view()),
    path(
        "workspaces/<slug:workspace>/topics/<str:topic>/records/<int:partition>/<int:offset>",
        views.RecordView.as_view(),
    ),
]
