"""The Django project: settings, routes, errors, and what all its apps share."""
