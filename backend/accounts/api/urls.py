"""URLs of the accounts app."""

from django.urls import path

from accounts.api import installation_views as installation
from accounts.api import views

urlpatterns = [
    path("session", views.SessionView.as_view()),
    path("session/link", views.SessionLinkView.as_view()),
    path("account", views.AccountView.as_view()),
    path("account/password", views.PasswordView.as_view()),
    path("tokens", views.TokensView.as_view()),
    path("tokens/<int:token>", views.TokenView.as_view()),
    path("installation/workspaces", installation.WorkspacesView.as_view()),
    path("installation/workspaces/<slug:workspace>", installation.WorkspaceSettingsView.as_view()),
    path("installation/accounts", installation.AccountsView.as_view()),
    path("installation/accounts/<int:account>", installation.InstallationAccountView.as_view()),
    path("installation/accounts/<int:account>/link", installation.AccountLinkView.as_view()),
    path("installation/audit", installation.InstallationAuditView.as_view()),
    path("workspaces/<slug:workspace>", views.WorkspaceView.as_view()),
    path("workspaces/<slug:workspace>/members", views.MembersView.as_view()),
    path("workspaces/<slug:workspace>/members/<int:member>", views.MemberView.as_view()),
    path("workspaces/<slug:workspace>/members/<int:member>/link", views.MemberLinkView.as_view()),
    path("workspaces/<slug:workspace>/rules", views.RulesView.as_view()),
    path("workspaces/<slug:workspace>/audit", views.AuditView.as_view()),
]
