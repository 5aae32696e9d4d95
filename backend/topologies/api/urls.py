"""URLs of the topologies app."""

from django.urls import path

from topologies.api import (
    comment_views,
    draft_views,
    fragment_views,
    git_views,
    simulation_views,
    testing_views,
    verification_views,
    views,
)

urlpatterns = [
    path("workspaces/<slug:workspace>/topologies", views.TopologiesView.as_view()),
    path("workspaces/<slug:workspace>/fragments", fragment_views.FragmentsView.as_view()),
    path("topologies/<int:topology>/users", fragment_views.FragmentUsersView.as_view()),
    path("workspaces/<slug:workspace>/compile", views.CompileView.as_view()),
    path("workspaces/<slug:workspace>/simulations", simulation_views.SimulationsView.as_view()),
    path("workspaces/<slug:workspace>/differences", simulation_views.DifferencesView.as_view()),
    path("workspaces/<slug:workspace>/programs", simulation_views.ProgramsView.as_view()),
    path(
        "workspaces/<slug:workspace>/verifications",
        verification_views.VerificationsView.as_view(),
    ),
    path(
        "workspaces/<slug:workspace>/verifications/<slug:verification>",
        verification_views.VerificationView.as_view(),
    ),
    path("workspaces/<slug:workspace>/mentions", comment_views.MentionsView.as_view()),
    path("topologies/<int:topology>/comments", comment_views.CommentsView.as_view()),
    path("topologies/<int:topology>/comments/<int:comment>", comment_views.CommentView.as_view()),
    path(
        "topologies/<int:topology>/versions/<int:number>/approval",
        comment_views.ApprovalView.as_view(),
    ),
    path("workspaces/<slug:workspace>/repository", git_views.RepositoryView.as_view()),
    path("workspaces/<slug:workspace>/repository/sync", git_views.RepositorySyncView.as_view()),
    path("workspaces/<slug:workspace>/repository/changes", git_views.OutsideChangesView.as_view()),
    path(
        "workspaces/<slug:workspace>/repository/changes/<str:folder>",
        git_views.OutsideChangeView.as_view(),
    ),
    path("drafts", draft_views.DraftsView.as_view()),
    path("drafts/<int:draft>", draft_views.OwnDraftView.as_view()),
    path("installation/drafts", draft_views.AbandonedDraftsView.as_view()),
    path("installation/drafts/<int:draft>", draft_views.AbandonedDraftView.as_view()),
    path("topologies/<int:topology>", views.TopologyView.as_view()),
    path("topologies/<int:topology>/draft", views.DraftView.as_view()),
    path("topologies/<int:topology>/sample-inputs", simulation_views.SampleInputsView.as_view()),
    path("topologies/<int:topology>/tests", testing_views.TestsView.as_view()),
    path("topologies/<int:topology>/tests/<int:test>", testing_views.TestView.as_view()),
    path("topologies/<int:topology>/versions", views.VersionsView.as_view()),
    path("topologies/<int:topology>/versions/<int:number>", views.VersionView.as_view()),
    path("topologies/<int:topology>/versions/<int:number>/export", views.ExportView.as_view()),
]
