"""The records app has no admin pages."""
