"""URLs of the catalog app."""

from django.urls import path

from catalog.api import views

urlpatterns = [
    path("catalog", views.CatalogView.as_view()),
    path("templates", views.TemplatesView.as_view()),
    path("health", views.HealthView.as_view()),
]
