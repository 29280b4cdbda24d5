"""Repositories of the arena's matches."""
