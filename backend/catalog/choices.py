"""Kinds, families and formats are the compiler's words; none are kept here."""
