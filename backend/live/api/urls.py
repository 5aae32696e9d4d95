"""Addresses of the live app."""

urlpatterns: list[object] = []
