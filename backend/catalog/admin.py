"""The catalog app has no admin pages."""
