"""The compiler defines kinds, families and formats; there are no choices here."""
