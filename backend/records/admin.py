"""The records app has nothing to show in the admin pages."""
