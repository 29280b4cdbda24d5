"""Stored matches of Dead Man's Draw: log records, replay and decisions."""
