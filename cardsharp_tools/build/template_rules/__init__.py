"""Rules that AWS holds templates to."""
